"""Flatbuffers, read in place: tables whose fields are numbered in the order of the schema, from 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from edge_asr.store.protobuf_wire import Malformed


@dataclass(frozen=True, slots=True)
class Table:
    """A table inside a buffer.

    Every method returns its empty value for a field that is absent, and raises :class:`Malformed` when the field does
    not fit into the buffer.
    """

    buffer: memoryview
    position: int

    def integer(self, field: int, size: int) -> int:
        """A signed integer of ``size`` bytes; 0 when absent."""
        where = self._where(field)
        return _integer(self.buffer, where, size, signed=True) if where else 0

    def table(self, field: int) -> Table | None:
        """A table in a table."""
        where = self._where(field)
        return Table(self.buffer, where + _integer(self.buffer, where, 4)) if where else None

    def text(self, field: int) -> str:
        """A string."""
        where = self._where(field)
        return _text(self.buffer, where + _integer(self.buffer, where, 4)) if where else ""

    def tables(self, field: int) -> Iterator[Table]:
        """An array of tables."""
        return (Table(self.buffer, position) for position in self._elements(field))

    def texts(self, field: int) -> Iterator[str]:
        """An array of strings."""
        return (_text(self.buffer, position) for position in self._elements(field))

    def check_bytes(self, field: int) -> None:
        """See that an array of bytes ends inside the buffer."""
        where = self._where(field)
        if where:
            _array(self.buffer, where + _integer(self.buffer, where, 4), 1)

    def _elements(self, field: int) -> Iterator[int]:
        where = self._where(field)
        if not where:
            return
        start, count = _array(self.buffer, where + _integer(self.buffer, where, 4), 4)
        for position in range(start, start + 4 * count, 4):
            yield position + _integer(self.buffer, position, 4)

    def _where(self, field: int) -> int:
        """Position of a field; 0 when it is absent."""
        numbering = self.position - _integer(self.buffer, self.position, 4, signed=True)
        entry = 4 + 2 * field
        if entry + 2 > _integer(self.buffer, numbering, 2):
            return 0
        offset = _integer(self.buffer, numbering + entry, 2)
        return self.position + offset if offset else 0


def root_table(buffer: memoryview) -> Table:
    """The table that holds all others."""
    return Table(buffer, _integer(buffer, 0, 4))


def _text(buffer: memoryview, position: int) -> str:
    start, count = _array(buffer, position, 1)
    if start + count == len(buffer):  # A zero byte ends it.
        raise Malformed
    return str(buffer[start : start + count], "utf-8")


def _array(buffer: memoryview, position: int, element_bytes: int) -> tuple[int, int]:
    """Where the elements start, and how many there are."""
    count = _integer(buffer, position, 4)
    if position + 4 + count * element_bytes > len(buffer):
        raise Malformed
    return position + 4, count


def _integer(buffer: memoryview, position: int, size: int, *, signed: bool = False) -> int:
    if position < 0 or position + size > len(buffer):
        raise Malformed
    return int.from_bytes(buffer[position : position + size], "little", signed=signed)
