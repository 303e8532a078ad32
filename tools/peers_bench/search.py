"""The largest load that holds: doubling until it does not, then bisection."""

from __future__ import annotations

from collections.abc import Callable


def largest_that_holds(holds: Callable[[int], bool], start: int, most: int) -> int:
    """Largest number that holds, to within a tenth; 0 when not even one does.

    Args:
        holds: Tries a number; true for small numbers, false for large ones.
        start: Tried first.
        most: Never tried beyond.
    """
    low, high = 0, min(start, most)
    while holds(high):
        low = high
        if high == most:
            return most
        high = min(2 * high, most)
    while high - low > max(1, low // 10):
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
