from __future__ import annotations

import pytest

from tools.peers_bench.search import largest_that_holds


@pytest.mark.parametrize("limit", range(12))
def test_small_limits_are_found_exactly(limit: int) -> None:
    assert largest_that_holds(lambda load: load <= limit, start=4, most=256) == limit


@pytest.mark.parametrize("limit", [37, 64, 100, 255])
def test_large_limits_are_found_to_a_tenth(limit: int) -> None:
    found = largest_that_holds(lambda load: load <= limit, start=4, most=256)
    assert found <= limit < found + max(2, found // 10 + 1)


def test_nothing_is_tried_beyond_the_most() -> None:
    tried: list[int] = []

    def holds(load: int) -> bool:
        tried.append(load)
        return True

    assert largest_that_holds(holds, start=4, most=50) == 50
    assert tried == [4, 8, 16, 32, 50]
