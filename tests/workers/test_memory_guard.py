from __future__ import annotations

import pytest

from edge_asr.workers.memory_guard import MemoryBounds, memory_bounds

MIB = 1 << 20
PLENTY = 1 << 40


def test_no_limit_is_no_limit() -> None:
    assert memory_bounds(0, 100 * MIB, PLENTY) is None


def test_a_chosen_limit_is_the_hard_one_and_the_soft_one_lies_before_it() -> None:
    assert memory_bounds(140, 100 * MIB, PLENTY) == MemoryBounds(soft=130 * MIB, hard=140 * MIB)


@pytest.mark.parametrize(("ready_mib", "hard_mib"), [(80, 208), (300, 600)])
def test_auto_leaves_room_by_what_the_worker_takes_when_ready(ready_mib: int, hard_mib: int) -> None:
    bounds = memory_bounds("auto", ready_mib * MIB, PLENTY)
    assert bounds is not None
    assert bounds.hard == hard_mib * MIB


def test_auto_leaves_a_part_of_the_machines_memory_to_others() -> None:
    bounds = memory_bounds("auto", 100 * MIB, 50 * MIB)
    assert bounds is not None
    assert bounds.hard == 140 * MIB


def test_a_limit_that_is_exceeded_from_the_start_has_no_soft_part() -> None:
    assert memory_bounds(50, 100 * MIB, PLENTY) == MemoryBounds(soft=50 * MIB, hard=50 * MIB)


@pytest.mark.parametrize(("resident", "pressure"), [(129, "none"), (130, "soft"), (139, "soft"), (140, "hard")])
def test_pressure_rises_with_memory(resident: int, pressure: str) -> None:
    assert MemoryBounds(130, 140).pressure(resident) == pressure
