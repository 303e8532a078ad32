from __future__ import annotations

from edge_asr.sessions.turnover import Turnover

SECOND_NS = 1_000_000_000
NOW_NS = 6_000 * SECOND_NS


def ended(count: int, duration_s: float, ago_s: int = 0) -> Turnover:
    """So many sessions of this length, one a second until so long ago."""
    turnover = Turnover()
    for second in reversed(range(count)):
        turnover.ended(NOW_NS - (ago_s + second) * SECOND_NS, duration_s)
    return turnover


def test_without_sessions_that_ended_the_hint_is_a_guess() -> None:
    assert Turnover().refused(NOW_NS, 4) == 5.0


def test_sessions_go_on_to_end_as_often_as_lately() -> None:
    assert ended(20, 600.0).refused(NOW_NS, 4) == 3.0


def test_many_that_have_just_begun_will_end_as_such_sessions_do() -> None:
    assert ended(4, 15.0).refused(NOW_NS, 10) == 1.5


def test_those_who_were_refused_before_go_first() -> None:
    turnover = ended(20, 600.0)
    assert [turnover.refused(NOW_NS, 4) for _ in range(3)] == [3.0, 6.0, 9.0]
    assert turnover.refused(NOW_NS + 6 * SECOND_NS, 4) == 3.0, "they have come back meanwhile"


def test_the_hint_has_bounds() -> None:
    assert ended(1, 3600.0).refused(NOW_NS, 1) == 60.0
    assert ended(50, 0.5).refused(NOW_NS, 10) == 1.0


def test_what_is_more_than_a_minute_ago_says_nothing() -> None:
    assert ended(5, 10.0, ago_s=61).refused(NOW_NS, 4) == 5.0
