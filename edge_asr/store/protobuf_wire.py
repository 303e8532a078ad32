"""The protobuf wire format, read in place: fields of no interest are stepped over, nothing is copied."""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT_BITS = 64


class Malformed(Exception):
    """The bytes are no such message, or end too early."""


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of each field: an integer, or the bytes of a string, message or packed array.

    Raises:
        Malformed: While iterating, at the first field that does not fit into the message.
    """
    position, size = 0, len(message)
    while position < size:
        key, position = _varint(message, position)
        number, wire = key >> 3, key & 7
        if not number:
            raise Malformed
        if wire == _VARINT:
            value, position = _varint(message, position)
            yield number, value
            continue
        if wire == _BYTES:
            length, position = _varint(message, position)
        elif wire in (_FIXED32, _FIXED64):
            length = 4 if wire == _FIXED32 else 8
        else:
            raise Malformed
        end = position + length
        if end > size:
            raise Malformed
        yield number, message[position:end]
        position = end


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(message) and shift < _LONGEST_VARINT_BITS:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise Malformed


def messages(message: memoryview, wanted: int) -> Iterator[memoryview]:
    """The fields of one number that are strings or messages."""
    for number, value in fields(message):
        if number == wanted and isinstance(value, memoryview):
            yield value


def text(message: memoryview, wanted: int) -> str:
    """A string field; empty when absent.

    Raises:
        UnicodeDecodeError: It is no UTF-8.
    """
    return next((str(value, "utf-8") for value in messages(message, wanted)), "")


def integer(message: memoryview, wanted: int) -> int:
    """An integer field; 0 when absent."""
    return next((value for number, value in fields(message) if number == wanted and isinstance(value, int)), 0)
