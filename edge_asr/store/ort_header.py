"""What an ``.ort`` file says about itself: a model as ONNX Runtime lays it out for small devices, in flatbuffers.

Field numbers are those of ONNX Runtime's ``ort.fbs``, from 0.
"""

from __future__ import annotations

from collections import Counter

from edge_asr.store.flatbuffer_table import Table, root_table
from edge_asr.store.model_header import OnnxHeader, TensorShape
from edge_asr.store.protobuf_wire import Malformed

_TENSOR_TYPE = 1
"""Member of the union ``TypeInfoValue``."""

_FIXED_SIZE = 1
"""Value of ``DimensionValueType``."""

_DEEPEST_BRANCH = 16


def is_ort(view: memoryview) -> bool:
    """Whether the file carries the mark of the format."""
    return bytes(view[4:8]) == b"ORTM"


def parse_ort(view: memoryview) -> OnnxHeader:
    """Read the header.

    Raises:
        Malformed: Something does not fit into the file.
        UnicodeDecodeError: A name is no UTF-8.
    """
    session = root_table(view)
    model = session.table(1)
    graph = model.table(7) if model else None
    if model is None or graph is None:
        raise Malformed
    op_types: Counter[str] = Counter()
    weight_types: set[int] = set()
    _read_graph(graph, op_types, weight_types, depth=0)
    shapes = {shape.name: shape for shape in map(_shape, graph.tables(1))}
    return OnnxHeader(
        kind="ort",
        ir_version=model.integer(0, 8),
        opsets={opset.text(0): opset.integer(1, 8) for opset in model.tables(1)},
        metadata={entry.text(0): entry.text(1) for entry in model.tables(9)},
        inputs=tuple(shapes.get(name, TensorShape(name, 0, ())) for name in graph.texts(5)),
        outputs=tuple(shapes.get(name, TensorShape(name, 0, ())) for name in graph.texts(6)),
        op_types=op_types,
        weight_types=frozenset(weight_types),
        ort_version=session.text(0),
    )


def _read_graph(graph: Table, op_types: Counter[str], weight_types: set[int], depth: int) -> None:
    if depth > _DEEPEST_BRANCH:
        raise Malformed
    for weight in graph.tables(0):
        weight.check_bytes(4)
        weight_types.add(weight.integer(3, 4))
    for node in graph.tables(2):
        op_types[node.text(5)] += 1
        for attribute in node.tables(10):
            branch = attribute.table(7)
            if branch is not None:
                _read_graph(branch, op_types, weight_types, depth + 1)


def _shape(value_info: Table) -> TensorShape:
    name, kind = value_info.text(0), value_info.table(2)
    tensor = kind.table(2) if kind and kind.integer(1, 1) == _TENSOR_TYPE else None
    if tensor is None:
        return TensorShape(name, 0, ())
    shape = tensor.table(1)
    dims = map(_dim, shape.tables(0)) if shape else ()
    return TensorShape(name, tensor.integer(0, 4), tuple(dims))


def _dim(dimension: Table) -> int | str:
    value = dimension.table(0)
    if value is None:
        return ""
    return value.integer(1, 8) if value.integer(0, 1) == _FIXED_SIZE else value.text(2)
