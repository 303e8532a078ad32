"""What a product takes in each of its forms: as measured on the board, or on this machine where it is the target; by a
table elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_asr.engines.ort_session import Inputs
from edge_asr.errors import EdgeAsrError
from edge_asr.quantize.choices import Choice, Node
from edge_asr.quantize.graph import Prepared, apply_assignment, prepare_graph
from edge_asr.quantize.observe import with_outputs
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.sources import loaded
from edge_asr.quantize.targets import Target

RUNS = 40
"""Of each product; the fastest counts, which is the one that nothing disturbed."""

WARM_UP_RUNS = 5

Shape = tuple[int, int, int]
"""Rows of the input, inputs, outputs."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Of every node in each of its forms; any unit, the same for all."""

    times: Mapping[tuple[Shape, Choice], float]
    shapes: Mapping[tuple[str, str], Shape]
    """Component and name of a node to its shape; nodes that compute nothing are not there."""

    def of(self, node: Node, choice: Choice) -> float:
        """One run of the node; 0 for a lookup."""
        shape = self.shapes.get((node.component, node.name))
        return 0.0 if shape is None else self.times[shape, choice]

    @property
    def measured(self) -> int:
        """Products that differ in their shape."""
        return len({shape for shape, _ in self.times})


def costs_by_table(nodes: Sequence[Node], rows: Mapping[tuple[str, str], int], target: Target) -> Costs:
    """By what the target's cores can do."""
    shapes = _shapes(nodes, rows)
    times = {
        (shape, choice): _by_table(target, shape, choice)
        for shape in set(shapes.values())
        for choice in target.macs_per_cycle
    }
    return Costs(times, shapes)


@dataclass(frozen=True, slots=True)
class MeasuredProduct:
    """What products of one shape took on a board, in one form."""

    choice: Choice
    shape: Shape
    seconds: float
    """Of one."""


def costs_on_board(
    nodes: Sequence[Node], rows: Mapping[tuple[str, str], int], target: Target, measured: Sequence[MeasuredProduct]
) -> Costs:
    """By what the board took; what was not measured there by the table, at the measured pace of that form.

    Args:
        nodes: All of them.
        rows: Of each product, as :func:`rows_of` finds them.
        target: The board, for what was not measured.
        measured: At least one.
    """
    shapes = _shapes(nodes, rows)
    known = {(one.shape, one.choice): one.seconds for one in measured}
    pace = {
        choice: float(np.median([one.seconds / _by_table(target, one.shape, choice) for one in own]))
        for choice in target.macs_per_cycle
        if (own := [one for one in measured if one.choice == choice])
    }
    usual = float(np.median(list(pace.values())))
    times = {
        (shape, choice): known.get((shape, choice), _by_table(target, shape, choice) * pace.get(choice, usual))
        for shape in set(shapes.values())
        for choice in target.macs_per_cycle
    }
    return Costs(times, shapes)


def _by_table(target: Target, shape: Shape, choice: Choice) -> float:
    return target.cost(choice, shape[1:], shape[0])


def costs_by_measuring(nodes: Sequence[Node], rows: Mapping[tuple[str, str], int], progress: Progress) -> Costs:
    """By running a product of each shape in each form, alone, on one thread."""
    shapes = _shapes(nodes, rows)
    wanted = sorted({(shapes[key], choice) for node in nodes if (key := (node.component, node.name)) in shapes
                     for choice in node.choices})  # fmt: skip
    progress.stage("timing products", len(wanted))
    times = {}
    for number, (shape, choice) in enumerate(wanted, 1):
        times[shape, choice] = measure_product(shape, choice)
        progress.advance(number)
    return Costs(times, shapes)


def measure_product(shape: Shape, choice: Choice) -> float:
    """Seconds of one product of random numbers."""
    rows, inputs, outputs = shape
    generator = np.random.default_rng(0)
    prepared = prepare_graph(_product(generator.standard_normal((inputs, outputs)).astype(np.float32)))
    model = apply_assignment(prepared, "model", {"product": choice}).model
    graph = loaded(model, "product")
    given: Inputs = {"x": generator.standard_normal((1, rows, inputs)).astype(np.float32)}
    for _ in range(WARM_UP_RUNS):
        graph.run(given)
    return min(_timed(lambda: graph.run(given)) for _ in range(RUNS))


def rows_of(
    components: Mapping[str, Prepared], nodes: Sequence[Node], steps: Callable[[str], Iterator[Inputs]]
) -> dict[tuple[str, str], int]:
    """How many vectors each product multiplies in a step; from one step of each graph.

    Args:
        components: Role to graph.
        nodes: At its outermost level; those inside of subgraphs are taken to have one row.
        steps: Gives the inputs of the runs of a graph.
    """
    rows: dict[tuple[str, str], int] = {(node.component, node.name): 1 for node in nodes}
    for role, prepared in components.items():
        inputs = next(steps(role), None)
        names = {node.name for node in nodes if node.component == role}
        products = [node for node in prepared.model.graph.node if node.name in names]
        if inputs is None or not products:
            continue
        computed = {output for node in prepared.model.graph.node for output in node.output}
        sources = sorted({node.input[0] for node in products} & computed)
        graph = loaded(with_outputs(prepared.model, sources), role)
        shapes = {name: value.shape for name, value in inputs.items()}
        try:
            outputs = graph.run(inputs)
        except EdgeAsrError:
            continue
        shapes |= {name: outputs[graph.outputs.index(name)].shape for name in sources}
        for node in products:
            shape = shapes.get(node.input[0], (1,))
            channels = shape[1] if node.op_type == "Conv" else shape[-1]
            rows[role, node.name] = max(1, int(np.prod(shape)) // max(1, channels))
    return rows


def _shapes(nodes: Sequence[Node], rows: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], Shape]:
    return {
        (node.component, node.name): (rows[node.component, node.name], *matrix_of_node(node))
        for node in nodes
        if node.operator != "Gather"
    }


def matrix_of_node(node: Node) -> tuple[int, int]:
    """Inputs and outputs of a product."""
    first, second = node.weight_shape[:2]
    return (second, first) if node.operator == "Conv" else (first, second)


def _product(matrix: np.ndarray) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], "product")],
        "product",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, "rows", matrix.shape[0]])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, "rows", matrix.shape[1]])],
        [numpy_helper.from_array(matrix, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _timed(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began
