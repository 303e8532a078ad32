from __future__ import annotations

import gc
import itertools

from edge_asr.workers.heap import LONGEST_PAUSE, TRIM_EVERY_BYTES, Heap, Tidying, keep_what_was_loaded

BASE = 100 << 20


class Process:
    """Takes memory, of which trimming gives some back."""

    def __init__(self) -> None:
        self.taken, self.free, self.trims = BASE, 0, 0

    def read(self) -> int:
        return self.taken

    def trim(self) -> bool:
        self.trims += 1
        self.taken, self.free = self.taken - self.free, 0
        return True


def test_a_heap_that_has_grown_is_trimmed_before_it_is_counted() -> None:
    process = Process()
    heap = Heap(process.read, process.trim)
    process.taken, process.free = BASE + TRIM_EVERY_BYTES + 1, TRIM_EVERY_BYTES
    assert heap.resident_bytes() == BASE + 1
    assert process.trims == 1


def test_a_heap_that_has_hardly_grown_is_left_alone() -> None:
    process = Process()
    heap = Heap(process.read, process.trim)
    process.taken = BASE + TRIM_EVERY_BYTES
    assert heap.resident_bytes() == process.taken
    assert process.trims == 0


def test_memory_that_is_really_needed_is_not_trimmed_again_and_again() -> None:
    process = Process()
    heap = Heap(process.read, process.trim)
    process.taken = BASE + 2 * TRIM_EVERY_BYTES
    assert [heap.resident_bytes() for _ in range(3)] == [process.taken] * 3
    assert process.trims == 1


def test_what_all_sessions_took_is_given_back_once_the_last_has_ended() -> None:
    process = Process()
    heap = Heap(process.read, process.trim)
    process.taken = BASE + 3 * TRIM_EVERY_BYTES
    heap.resident_bytes()
    process.free = 3 * TRIM_EVERY_BYTES
    assert heap.resident_bytes() == BASE + 3 * TRIM_EVERY_BYTES  # trimming goes over the whole heap: not every second
    assert heap.resident_bytes(is_idle=True) == BASE


def test_what_becomes_free_while_it_is_busy_is_given_back() -> None:
    process = Process()
    heap = Tidying(process.read, process.trim)
    process.taken = BASE + 3 * TRIM_EVERY_BYTES
    heap.tidy()
    process.free = 3 * TRIM_EVERY_BYTES  # what took it has gone
    for _ in range(2):
        heap.tidy()
    assert process.taken == BASE


def test_what_is_needed_is_trimmed_ever_less_often() -> None:
    process = Process()
    heap = Tidying(process.read, process.trim)
    process.taken = BASE + 3 * TRIM_EVERY_BYTES
    trims = []
    for _ in range(60):
        heap.tidy()
        trims.append(process.trims)
    tried = [number for number in range(1, 60) if trims[number] > trims[number - 1]]
    assert [later - earlier for earlier, later in itertools.pairwise(tried)][:4] == [4, 8, 12, 12]
    assert LONGEST_PAUSE == 11


def test_what_was_loaded_is_not_looked_at_again() -> None:
    loaded: list[object] = []
    try:
        keep_what_was_loaded()
        assert not any(each is loaded for each in gc.get_objects())
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
    assert any(each is loaded for each in gc.get_objects())
