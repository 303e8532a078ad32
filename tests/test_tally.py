from __future__ import annotations

from edge_asr.tally import Tally


def test_values_fall_into_the_first_bucket_that_holds_them() -> None:
    tally = Tally((1, 2, 4))
    for value in (0.5, 1, 1.5, 4, 9):
        tally.add(value)
    assert tally.counts == (2, 1, 1, 1)
    assert tally.total == 16
