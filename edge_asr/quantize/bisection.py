"""How far one can go along a list of steps before something gives; pure."""

from __future__ import annotations

from collections.abc import Callable

Accepts = Callable[[int], bool]
"""Whether so many steps may be taken. Expensive: it is asked once for each number."""


def furthest(last: int, accepts: Accepts, guess: int | None = None) -> int:
    """The largest number of steps that is accepted, if what is acceptable ends once and for all.

    Nothing is asked about 0, which is the original. The end is tried first: where everything may be done, one question
    answers it.

    Args:
        last: All steps there are.
        accepts: The judge.
        guess: Where the end is expected, to begin there.

    Returns:
        The largest number found acceptable; 0 when none was.
    """
    if last <= 0:
        return 0
    if accepts(last):
        return last
    low, high = 0, last
    middle = guess if guess is not None and 0 < guess < last else last // 2
    while high - low > 1:
        middle = min(max(middle, low + 1), high - 1)
        if accepts(middle):
            low = middle
        else:
            high = middle
        middle = (low + high) // 2
    return low
