"""What an ONNX file says about itself, read from the protobuf wire format alone; weights are skipped, never loaded.

Field numbers are those of ``onnx.proto`` (ModelProto, GraphProto, NodeProto, TensorProto, ValueInfoProto). The file is
memory-mapped, so a model of any size costs a few pages. ``.ort`` files (flatbuffers) tell their version only.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from edge_asr.errors import ModelDamaged

FLOAT16 = 10
FLOAT = 1
INTEGERS = (6, 7)
"""``TensorProto.DataType`` of int32 and int64."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EXTERNAL = 1
"""``TensorProto.data_location`` of weights that lie in another file."""

_LOOKS_LIKE = (
    (b"version https://git-lfs", "is a git-LFS pointer, not the model; run `git lfs pull` where it came from"),
    (b"<!DOCTYPE", "is a web page, not the model; the download went wrong"),
    (b"<html", "is a web page, not the model; the download went wrong"),
    (b"PK\x03\x04", "is a zip archive, not the model; unpack it first"),
    (b"BZh", "is a bzip2 archive, not the model; unpack it first"),
    (b"\x1f\x8b", "is a gzip archive, not the model; unpack it first"),
)


@dataclass(frozen=True, slots=True)
class TensorShape:
    """An input or output of the graph."""

    name: str
    elem_type: int
    """``TensorProto.DataType``; 0 where the file does not say."""
    dims: tuple[int | str, ...]
    """Sizes, or the names of those that vary; empty strings for nameless ones."""


@dataclass(frozen=True, slots=True)
class OnnxHeader:
    """Everything of a model file but its weights."""

    kind: Literal["onnx", "ort"]
    ir_version: int = 0
    opsets: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Domain to version; the standard domain is the empty string."""
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    inputs: tuple[TensorShape, ...] = ()
    """Without those that are weights."""
    outputs: tuple[TensorShape, ...] = ()
    op_types: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Operator to how often it stands in the main graph."""
    weight_types: frozenset[int] = frozenset()
    """``TensorProto.DataType`` of the weights."""
    external_files: frozenset[str] = frozenset()
    """Files, relative to this one, that hold weights."""
    ort_version: str = ""
    """``.ort`` only: the ONNX Runtime that wrote it."""


class _Malformed(Exception):
    """The bytes are no protobuf message."""


def read_header(path: Path) -> OnnxHeader:
    """Read the header of an ``.onnx`` or ``.ort`` file.

    Raises:
        ModelDamaged: The file is missing, empty, cut off, or something else than a model; the sentence says what.
    """
    name = path.name
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise ModelDamaged(name, "is empty; fetch it again")
            # Not closed here: an error on its way up holds views of the mapping, which ends with the last of them.
            return _parse(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), name)
    except OSError as error:
        raise ModelDamaged(name, f"cannot be read: {error.strerror or error}") from error


def _parse(view: memoryview, name: str) -> OnnxHeader:
    start = bytes(view[:64])
    for mark, meaning in _LOOKS_LIKE:
        if start.lstrip().lower().startswith(mark.lower()):
            raise ModelDamaged(name, meaning)
    try:
        if start[4:8] == b"ORTM":
            return _parse_ort(view)
        header = _parse_model(view)
    except (_Malformed, UnicodeDecodeError) as error:
        raise ModelDamaged(name, "is not an ONNX model, or is cut off; fetch it again") from error
    if not header.ir_version or not header.outputs:
        raise ModelDamaged(name, "holds no ONNX graph; fetch it again")
    return header


# The protobuf wire format.


def _fields(view: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Field number and value of each field: an integer, or the bytes of a string or message."""
    position = 0
    while position < len(view):
        key, position = _varint(view, position)
        number, wire = key >> 3, key & 7
        if not number:
            raise _Malformed
        if wire == _VARINT:
            value, position = _varint(view, position)
            yield number, value
            continue
        if wire == _BYTES:
            length, position = _varint(view, position)
        elif wire in (_FIXED32, _FIXED64):
            length = 4 if wire == _FIXED32 else 8
        else:
            raise _Malformed
        end = position + length
        if end > len(view):
            raise _Malformed
        yield number, view[position:end]
        position = end


def _varint(view: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(view) and shift < 64:
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise _Malformed


def _messages(view: memoryview, wanted: int) -> Iterator[memoryview]:
    for number, value in _fields(view):
        if number == wanted and isinstance(value, memoryview):
            yield value


def _text(view: memoryview, wanted: int) -> str:
    return next((str(value, "utf-8") for value in _messages(view, wanted)), "")


def _number(view: memoryview, wanted: int) -> int:
    return next((value for number, value in _fields(view) if number == wanted and isinstance(value, int)), 0)


# ONNX messages.


def _parse_model(view: memoryview) -> OnnxHeader:
    graph = next(_messages(view, 7), memoryview(b""))
    weights = list(_messages(graph, 5))
    weight_names = {_text(weight, 8) for weight in weights}
    return OnnxHeader(
        kind="onnx",
        ir_version=_number(view, 1),
        opsets={_text(opset, 1): _number(opset, 2) for opset in _messages(view, 8)},
        metadata={_text(entry, 1): _text(entry, 2) for entry in _messages(view, 14)},
        inputs=tuple(shape for shape in map(_shape, _messages(graph, 11)) if shape.name not in weight_names),
        outputs=tuple(map(_shape, _messages(graph, 12))),
        op_types=Counter(_text(node, 4) for node in _messages(graph, 1)),
        weight_types=frozenset(_number(weight, 2) for weight in weights),
        external_files=frozenset(location for weight in weights if (location := _location(weight))),
    )


def _shape(value_info: memoryview) -> TensorShape:
    tensor = next((found for kind in _messages(value_info, 2) for found in _messages(kind, 1)), memoryview(b""))
    dims = (dim for shape in _messages(tensor, 2) for dim in _messages(shape, 1))
    return TensorShape(
        _text(value_info, 1), _number(tensor, 1), tuple(_number(dim, 1) or _text(dim, 2) for dim in dims)
    )


def _location(weight: memoryview) -> str:
    if _number(weight, 14) != _EXTERNAL:
        return ""
    entries = {_text(entry, 1): _text(entry, 2) for entry in _messages(weight, 13)}
    return entries.get("location", "")


# Flatbuffers, as far as needed for the first string of the root table.


def _parse_ort(view: memoryview) -> OnnxHeader:
    root = _unsigned(view, 0, 4)
    table = root - _unsigned(view, root, 4, signed=True)
    offset = _unsigned(view, table + 4, 2) if _unsigned(view, table, 2) > 4 else 0
    if not offset:
        raise _Malformed
    text = root + offset + _unsigned(view, root + offset, 4)
    length = _unsigned(view, text, 4)
    if length > 64 or text + 4 + length > len(view):
        raise _Malformed
    return OnnxHeader(kind="ort", ort_version=str(view[text + 4 : text + 4 + length], "utf-8"))


def _unsigned(view: memoryview, position: int, size: int, *, signed: bool = False) -> int:
    if position < 0 or position + size > len(view):
        raise _Malformed
    return int.from_bytes(view[position : position + size], "little", signed=signed)
