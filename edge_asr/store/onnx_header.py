"""What an ONNX file says about itself, read from the protobuf wire format alone; weights are skipped, never loaded.

Field numbers are those of ``onnx.proto``. The file is memory-mapped, so a model of any size costs a few pages.
``.ort`` files are left to :mod:`edge_asr.store.ort_header`.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from edge_asr.errors import ModelDamaged
from edge_asr.store.impostors import what_it_is_instead
from edge_asr.store.model_header import OnnxHeader, TensorShape
from edge_asr.store.ort_header import is_ort, parse_ort
from edge_asr.store.protobuf_wire import Malformed, fields, integer, messages, text
from edge_asr.store.rknn_header import is_rknn, read_rknn

_EXTERNAL = 1
"""``TensorProto.data_location`` of weights that lie in another file."""

_WITH_BRANCHES = frozenset({"If", "Loop", "Scan"})
"""Operators with graphs inside."""

_DEEPEST_BRANCH = 16

_NO_MODEL = "is not an ONNX model; fetch it again"
_CUT_OFF = "is cut off or damaged; fetch it again"


def read_header(path: Path) -> OnnxHeader:
    """Read the header of an ``.onnx``, ``.ort`` or ``.rknn`` file.

    Raises:
        ModelDamaged: The file is missing, empty, cut off, or something else than a model; the sentence says what.
    """
    name = path.name
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise ModelDamaged(name, "is empty; fetch it again")
            if is_rknn(path):
                compiled = read_rknn(path)
                return OnnxHeader("rknn", metadata=compiled.metadata, chip=compiled.chip, toolkit=compiled.toolkit)
            # Not closed here: an error on its way up holds views of the mapping, which ends with the last of them.
            return _parse(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), name)
    except OSError as error:
        raise ModelDamaged(name, f"cannot be read: {error.strerror or error}") from error


def _parse(view: memoryview, name: str) -> OnnxHeader:
    instead = what_it_is_instead(bytes(view[:64]))
    if instead:
        raise ModelDamaged(name, instead)
    try:
        header = parse_ort(view) if is_ort(view) else _parse_model(view)
    except (Malformed, UnicodeDecodeError) as error:
        raise ModelDamaged(name, _CUT_OFF if is_ort(view) or _starts_like_a_model(view) else _NO_MODEL) from error
    if not header.ir_version or not header.outputs:
        raise ModelDamaged(name, "holds no ONNX graph; fetch it again")
    if not header.opsets:  # They stand behind the graph, where a download that stopped has nothing any more.
        raise ModelDamaged(name, _CUT_OFF)
    return header


def _starts_like_a_model(view: memoryview) -> bool:
    """Every exporter writes ``ir_version``, a small number, first."""
    return len(view) >= 2 and view[0] == 0x08 and 0 < view[1] < 0x40


@dataclass(slots=True)
class _Contents:
    """What has been seen of a graph so far."""

    inputs: list[TensorShape] = field(default_factory=list)
    outputs: list[TensorShape] = field(default_factory=list)
    op_types: Counter[str] = field(default_factory=Counter)
    weight_names: set[str] = field(default_factory=set)
    weight_types: set[int] = field(default_factory=set)
    external_bytes: dict[str, int] = field(default_factory=dict)


def _parse_model(view: memoryview) -> OnnxHeader:
    ir_version, opsets, metadata, contents = 0, {}, {}, _Contents()
    for number, value in fields(view):
        if isinstance(value, int):
            ir_version = value if number == 1 else ir_version
        elif number == 7:
            _read_graph(value, contents, depth=0)
        elif number == 8:
            opsets[text(value, 1)] = integer(value, 2)
        elif number == 14:
            metadata[text(value, 1)] = text(value, 2)
    return OnnxHeader(
        kind="onnx",
        ir_version=ir_version,
        opsets=opsets,
        metadata=metadata,
        # Before IR version 4 the weights are inputs too.
        inputs=tuple(shape for shape in contents.inputs if shape.name not in contents.weight_names),
        outputs=tuple(contents.outputs),
        op_types=contents.op_types,
        weight_types=frozenset(contents.weight_types),
        external_bytes=contents.external_bytes,
    )


def _read_graph(graph: memoryview, contents: _Contents, depth: int) -> None:
    if depth > _DEEPEST_BRANCH:
        raise Malformed
    for number, value in fields(graph):
        if isinstance(value, int):
            continue
        if number == 1:
            _read_node(value, contents, depth)
        elif number == 5:
            _read_weight(value, contents)
        elif number == 11 and not depth:
            contents.inputs.append(_shape(value))
        elif number == 12 and not depth:
            contents.outputs.append(_shape(value))


def _read_node(node: memoryview, contents: _Contents, depth: int) -> None:
    op_type = text(node, 4)
    contents.op_types[op_type] += 1
    if op_type in _WITH_BRANCHES:
        for attribute in messages(node, 5):
            for graph in messages(attribute, 6):
                _read_graph(graph, contents, depth + 1)


def _read_weight(weight: memoryview, contents: _Contents) -> None:
    is_external, entries = False, {}
    for number, value in fields(weight):
        if number == 2 and isinstance(value, int):
            contents.weight_types.add(value)
        elif number == 14:
            is_external = value == _EXTERNAL
        elif number == 8 and isinstance(value, memoryview):
            contents.weight_names.add(str(value, "utf-8"))
        elif number == 13 and isinstance(value, memoryview):
            entries[text(value, 1)] = text(value, 2)
    if is_external:
        _note_external(entries, contents.external_bytes)


def _note_external(entries: dict[str, str], external_bytes: dict[str, int]) -> None:
    name = entries.get("location", "")
    try:
        end = int(entries.get("offset") or 0) + int(entries.get("length") or 0)
    except ValueError as error:
        raise Malformed from error
    external_bytes[name] = max(end, external_bytes.get(name, 0))


def _shape(value_info: memoryview) -> TensorShape:
    tensor = next((found for kind in messages(value_info, 2) for found in messages(kind, 1)), memoryview(b""))
    return TensorShape(text(value_info, 1), integer(tensor, 1), tuple(_dims(tensor)))


def _dims(tensor: memoryview) -> Iterator[int | str]:
    for shape in messages(tensor, 2):
        for dim in messages(shape, 1):
            yield integer(dim, 1) or text(dim, 2)
