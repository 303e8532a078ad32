"""A graph for one stream whose every size is written down: what NPU compilers take.

Released models have a batch axis of any length, and work out sizes while they run. With the batch at one everything is
known: shape inference finds the sizes, they are written in the place of what computed them, and what was constant all
along is folded away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_asr.errors import ModelUnsupported
from edge_asr.quantize.cleanup import clean_up
from edge_asr.quantize.fold import fold_constants
from edge_asr.quantize.graph import Prepared, restore_metadata
from edge_asr.quantize.sizes import infer_sizes
from edge_asr.quantize.trial_run import gives_the_same
from edge_asr.quantize.walk import attribute_of

MOST_ROUNDS = 8
"""Sizes that become known make others known; the starter model needs two rounds."""

EXPORT_COMMAND = "export it again with icefall's export-onnx-streaming.py --dynamic-batch 0"

_MOVING = frozenset({"NonZero", "Range", "Shape", "Loop", "If", "Scan", "Unique", "Compress"})
"""Operators after which a size may depend on what is heard, or that compilers have no place for."""


def fix_shapes(prepared: Prepared) -> onnx.ModelProto:
    """The graph for a batch of one, with the same results.

    Args:
        prepared: Stays as it is.

    Raises:
        ModelUnsupported: Some size cannot be fixed; the sentence names it, and how to export a graph that will do.
    """
    model = onnx.ModelProto()
    model.CopyFrom(prepared.model)
    _fix_batch(model, prepared.name)
    batch_of_one = onnx.ModelProto()
    batch_of_one.CopyFrom(model)
    for _ in range(MOST_ROUNDS):
        sizes = infer_sizes(model)
        if sizes is None:
            raise ModelUnsupported(prepared.name, f"its sizes cannot be inferred; {EXPORT_COMMAND}")
        if not _write_shapes(model, sizes):
            break
        model, complaint = fold_constants(model)
        if complaint:
            raise ModelUnsupported(prepared.name, f"{complaint}; {EXPORT_COMMAND}")
        clean_up(model)
    require_fixed(model, prepared.name)
    if not gives_the_same(batch_of_one, model):
        raise ModelUnsupported(prepared.name, f"with its sizes fixed it gives something else; {EXPORT_COMMAND}")
    restore_metadata(model, prepared.metadata)
    return model


def require_fixed(model: onnx.ModelProto, name: str) -> None:
    """Refuse a graph in which a size may vary.

    Raises:
        ModelUnsupported: With what varies, and how to export a graph that will do.
    """
    moving = sorted({node.op_type for node in model.graph.node} & _MOVING)
    if moving:
        raise ModelUnsupported(name, f"it works out sizes while it runs ({', '.join(moving)}); {EXPORT_COMMAND}")
    varying = [value.name for value in _ends(model) if not all(_size(dim) for dim in _dims(value))]
    if varying:
        raise ModelUnsupported(name, f"sizes of {', '.join(varying[:4])} vary; {EXPORT_COMMAND}")


def _fix_batch(model: onnx.ModelProto, name: str) -> None:
    """One stream: the only size of an input that may vary."""
    names = {dim.dim_param for value in model.graph.input for dim in _dims(value) if not _size(dim)}
    if len(names) > 1:
        raise ModelUnsupported(
            name, f"its inputs have {len(names)} sizes that vary, not only a batch; {EXPORT_COMMAND}"
        )
    for value in _ends(model):
        for dim in _dims(value):
            if _size(dim):
                continue
            is_batch = dim.dim_param in names
            dim.Clear()
            if is_batch:
                dim.dim_value = 1
    del model.graph.value_info[:]


def _write_shapes(model: onnx.ModelProto, sizes: Mapping[str, list[int | str | None]]) -> int:
    """Put constants in the place of ``Shape`` nodes, and sizes at the outputs; how many nodes there were."""
    written = 0
    for node in model.graph.node:
        if node.op_type != "Shape":
            continue
        known = sizes.get(node.input[0])
        if known is None or not all(isinstance(size, int) for size in known):
            continue
        if attribute_of(node, "start", 0) or attribute_of(node, "end", None) is not None:
            continue  # no exporter of speech models writes such
        value = numpy_helper.from_array(np.array(known, np.int64))
        node.CopyFrom(helper.make_node("Constant", [], list(node.output), node.name, value=value))
        written += 1
    for output in model.graph.output:
        for dim, size in zip(_dims(output), sizes.get(output.name, []), strict=False):
            if isinstance(size, int):
                dim.Clear()
                dim.dim_value = size
    return written


def _ends(model: onnx.ModelProto) -> Iterator[onnx.ValueInfoProto]:
    yield from model.graph.input
    yield from model.graph.output


def _dims(value: onnx.ValueInfoProto) -> list[onnx.TensorShapeProto.Dimension]:
    return list(value.type.tensor_type.shape.dim)


def _size(dim: onnx.TensorShapeProto.Dimension) -> int:
    return int(dim.dim_value) if dim.HasField("dim_value") else 0
