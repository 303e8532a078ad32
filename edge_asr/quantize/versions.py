"""Operator set and file version: no newer than the runtime on the board.

The ONNX package of a workstation writes versions that the runtime inside sherpa-onnx refuses; some exporters do too.
"""

from __future__ import annotations

import onnx
import onnx.version_converter

from edge_asr.errors import ModelDamaged, ModelTooNew
from edge_asr.quantize.walk import STANDARD_DOMAINS, graphs_of, model_bytes, nodes_of
from edge_asr.store.inspect import MAX_IR_VERSION, MAX_OPSET

DEFAULT_OPSET = 21
DEFAULT_IR_VERSION = 10
"""What the runtimes on boards have known for years."""
PROTOBUF_LIMIT_BYTES = 2**31 - 1
"""Nothing larger passes through one protobuf message; weights beyond lie in a file of their own."""
LOWEST_OPSET = 11
"""The first with ``DynamicQuantizeLinear``."""


def cap_versions(model: onnx.ModelProto, name: str) -> tuple[onnx.ModelProto, list[str]]:
    """The same model in versions that boards load.

    A model within :data:`DEFAULT_OPSET` keeps its operator set: a conversion may lose what an exporter took care of.

    Returns:
        The model, and a sentence for each thing that was changed or could not be.

    Raises:
        ModelTooNew: It needs a newer operator set than any runtime on a board has.
        ModelDamaged: It names no operator set.
    """
    opset = standard_opset(model)
    if not opset:
        raise ModelDamaged(name, "the graph names no ONNX operator set")
    notes = []
    wanted = min(max(opset, LOWEST_OPSET), DEFAULT_OPSET)
    if wanted != opset:
        converted = _converted(model, wanted)
        if converted is not None:
            model = converted
            notes.append(f"{name}: operator set {opset} rewritten as {wanted}")
        elif opset > MAX_OPSET:
            raise ModelTooNew(
                name,
                f"it needs ONNX operator set {opset}, cannot be rewritten in {wanted}, and the runtime on boards knows "
                f"{MAX_OPSET} at most; export it again with opset {wanted}",
            )
        else:
            notes.append(f"{name}: operator set {opset} kept; it cannot be rewritten in {wanted}")
    lowest_ir = DEFAULT_IR_VERSION if standard_opset(model) <= DEFAULT_OPSET else MAX_IR_VERSION
    if model.ir_version > lowest_ir:
        notes.append(f"{name}: file version {model.ir_version} written as {lowest_ir}")
        model.ir_version = lowest_ir
    return model, notes


def standard_opset(model: onnx.ModelProto) -> int:
    """Version of the standard operators; 0 when none is named."""
    return max((entry.version for entry in model.opset_import if entry.domain in STANDARD_DOMAINS), default=0)


def strip_opset_imports(model: onnx.ModelProto) -> None:
    """Remove the operator sets that no node uses; a runtime that does not know one of them refuses the file."""
    used = {node.domain for node in nodes_of(model.graph)} | {
        node.domain for function in model.functions for node in function.node
    }
    kept = [entry for entry in model.opset_import if entry.domain in used or entry.domain in STANDARD_DOMAINS]
    del model.opset_import[:]
    model.opset_import.extend(kept)


def require_domain(model: onnx.ModelProto, domain: str, version: int = 1) -> None:
    """Name an operator set that the graph now uses."""
    if all(entry.domain != domain for entry in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid(domain, version))


def _converted(model: onnx.ModelProto, opset: int) -> onnx.ModelProto | None:
    """The model in another operator set; None where the converter of the ONNX package cannot do it."""
    has_subgraphs = len(list(graphs_of(model.graph))) > 1  # the converter leaves them as they are
    if has_subgraphs or model_bytes(model) >= PROTOBUF_LIMIT_BYTES:
        return None
    try:
        return onnx.version_converter.convert_version(model, opset)
    except (RuntimeError, ValueError, onnx.version_converter.ConvertError):
        return None
