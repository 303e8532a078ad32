"""How many workers memory is enough for."""

from __future__ import annotations

import pytest

from edge_asr.batch.memory_valve import MemoryValve

MIB = 1 << 20
VALVE = MemoryValve(worker_bytes=200 * MIB, reserve_bytes=128 * MIB)


@pytest.mark.parametrize(("total_mib", "reserve_mib"), [(1024, 128), (4096, 512), (65536, 512)])
def test_an_eighth_of_the_memory_stays_free_up_to_a_bound(total_mib, reserve_mib) -> None:
    assert MemoryValve.for_machine(1, total_mib * MIB).reserve_bytes == reserve_mib * MIB


@pytest.mark.parametrize(
    ("available_mib", "loading", "more"), [(1000, 0, 4), (1000, 3, 1), (328, 0, 1), (327, 0, 0), (327, 9, 0)]
)
def test_workers_that_are_loading_have_not_taken_their_share_yet(available_mib, loading, more) -> None:
    assert VALVE.more_workers(available_mib * MIB, loading) == more


@pytest.mark.parametrize(("available_mib", "is_short"), [(128, False), (127, True)])
def test_memory_is_short_below_the_reserve(available_mib, is_short) -> None:
    assert VALVE.is_short(available_mib * MIB) is is_short
