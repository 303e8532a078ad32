"""``int8-static``: activations quantized by ranges that were measured beforehand.

Products become ``QLinearMatMul`` when the graph is loaded. What makes a state stays float32, because an error in a
state stays with the stream; so do convolutions and everything else. A range holds everything that was measured: the
mean of all steps' extremes, which is offered too, did 27 times the harm on the starter model. Of each step only the
extremes stay in memory (histograms took 100 GB and more: onnxruntime#10503).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

from edge_asr.engines.ort_session import Inputs
from edge_asr.errors import ModelUnsupported, NothingQuantized, QuantizationError, QuantizedLess
from edge_asr.quantize.graph import (
    OperatorCounts,
    Prepared,
    Quantized,
    apply_assignment,
    count_float_readers,
    restore_metadata,
)
from edge_asr.quantize.products import Weights, is_product
from edge_asr.quantize.recipes import RecipeOptions, kept_components
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.save import save_model
from edge_asr.quantize.unheard import unheard
from edge_asr.quantize.versions import standard_opset, strip_opset_imports
from edge_asr.quantize.walk import operator_counts

LEAST_OPSET = 13
"""The first whose ``DequantizeLinear`` takes a scale for each column."""
_MATRIX_OPERATORS = ("MatMul", "Gemm")
_PASSED_ON = frozenset(
    {
        *("Cast", "Concat", "Expand", "Flatten", "Gather", "GatherElements", "Identity", "Pad", "Reshape", "Slice"),
        *("Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where"),
        *("Mul", "Relu", "Sigmoid", "Softmax", "Tanh"),
    }
)
"""Operators through which a state is followed back to the product that made it. A sum of two computed tensors is the
residual stream, which everything has a part in."""


def static_int8(
    components: Mapping[str, Prepared], steps: RecordedSteps, options: RecipeOptions | None = None
) -> dict[str, Quantized]:
    """Make every component of a streaming model by measured ranges.

    Args:
        components: Role to graph.
        steps: Of the float model, run free.
        options: Whether the decoder of a transducer is quantized too.

    Raises:
        NothingQuantized: No component has a node to quantize, or none ran in the calibration.
        QuantizationError: ONNX Runtime could not do it.
    """
    kept = kept_components(components, options or RecipeOptions())
    made = {}
    for role, graph in components.items():
        nodes = [] if role in kept or role not in steps.roles() else static_nodes(graph)
        made[role] = _quantized(role, graph, nodes, steps) if nodes else apply_assignment(graph, role, {})
    if not any(result.counts.quantized for result in made.values()):
        raise NothingQuantized("int8-static", "no product is left beside those that make states")
    return made


def static_nodes(prepared: Prepared) -> list[str]:
    """Products with constant weights, but for those that make states."""
    weights = {tensor.name: tensor for tensor in prepared.model.graph.initializer}
    makes_state = state_makers(prepared.model)
    return [
        node.name
        for node in prepared.model.graph.node
        if node.op_type in _MATRIX_OPERATORS and is_product(node, weights) and node.name not in makes_state
    ]


def state_makers(model: onnx.ModelProto) -> set[str]:
    """Products whose outputs become states with nothing but activations, masks and moves in between."""
    weights: Weights = {tensor.name: tensor for tensor in model.graph.initializer}
    maker = {name: node for node in model.graph.node for name in node.output}
    makers: set[str] = set()
    seen: set[str] = set()
    waiting = [output.name for output in model.graph.output[1:]]
    while waiting:
        name = waiting.pop()
        node = maker.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        computed = [source for source in node.input if source in maker]
        if is_product(node, weights):
            makers.add(node.name)
        elif node.op_type in _PASSED_ON or len(computed) < 2:
            waiting += computed
    return makers


class _Reader(CalibrationDataReader):  # type: ignore[misc]
    """Steps from disk, as ONNX Runtime asks for them."""

    def __init__(self, steps: Iterator[Inputs]) -> None:
        self._steps = steps

    def get_next(self) -> Inputs | None:
        """The next step; None after the last."""
        return next(self._steps, None)


def _quantized(role: str, prepared: Prepared, nodes: list[str], steps: RecordedSteps) -> Quantized:
    if standard_opset(prepared.model) < LEAST_OPSET:
        raise ModelUnsupported(
            prepared.name, f"static quantization needs operator set {LEAST_OPSET}; export it again, or use int8"
        )
    with tempfile.TemporaryDirectory(prefix="edge-asr-quantize-") as folder, unheard():
        source, target = Path(folder) / "float.onnx", Path(folder) / "static.onnx"
        save_model(prepared.model, source)  # a graph in memory would be changed: its weights are moved out
        try:
            quantize_static(
                source,
                target,
                _Reader(steps.read(role)),
                quant_format=QuantFormat.QDQ,
                per_channel=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                op_types_to_quantize=list(_MATRIX_OPERATORS),
                nodes_to_quantize=nodes,
                calibrate_method=CalibrationMethod.MinMax,
                # CalibMaxIntermediateOutputs, meant to bound memory, throws outputs away unread (onnxruntime 1.32).
            )
        except (AssertionError, RuntimeError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise QuantizationError(f"{prepared.name}: ONNX Runtime cannot quantize it: {error}") from error
        model = onnx.load(str(target))
    done = count_float_readers(prepared.model) - count_float_readers(model)
    if done < len(nodes):
        raise QuantizedLess(role, "int8-static", len(nodes), done)
    strip_opset_imports(model)
    restore_metadata(model, prepared.metadata)
    counts = OperatorCounts(operator_counts(prepared.model), operator_counts(model), {"int8": len(nodes)})
    return Quantized(model, counts, (*prepared.notes, f"{role}: calibrated with {steps.count(role)} steps"))
