"""How far one can go along a list of steps before something gives; pure."""

from __future__ import annotations

from collections.abc import Callable

Accepts = Callable[[int], bool]
"""Whether so many steps may be taken. Expensive: it is asked once for each number."""


def furthest(last: int, accepts: Accepts, *, known: int = 0) -> int:
    """The largest number of steps that is accepted, if what is acceptable ends once and for all.

    The end is tried first: where everything may be done, one question answers it.

    Args:
        last: All steps there are.
        accepts: The judge.
        known: A number that is acceptable: nothing is asked about it and what is below.

    Returns:
        The largest number found acceptable, ``known`` when there was no larger one.
    """
    if last <= known:
        return known
    if accepts(last):
        return last
    low, high = known, last
    while high - low > 1:
        middle = (low + high) // 2
        if accepts(middle):
            low = middle
        else:
            high = middle
    return low
