"""The share of calls that a group of servers without a queue turns away, for three ways in which calls arrive.

A server is a stream that can be recognised at live pace; ``offered_erlangs`` is the mean number of calls that would be
in progress if none were lost: calls per second times mean duration in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable


def erlang_b(offered_erlangs: float, servers: int) -> float:
    """Blocking of calls that arrive independently of each other (Poisson), whatever the distribution of durations.

    Erlang 1917, by the recursion on the number of servers, which neither overflows nor cancels. That only the mean
    duration matters was shown by Sevast'yanov 1957; :mod:`edge_asr.bench.simulate` shows it again.
    """
    blocking = 1.0
    for server in range(1, servers + 1):
        blocking = offered_erlangs * blocking / (server + offered_erlangs * blocking)
    return blocking


def even_blocking(offered_erlangs: float, servers: int) -> float:
    """Blocking of calls that arrive at equal intervals and last exponentially distributed times.

    Takács 1957 for the loss system GI/M/n with constant intervals: 1 / sum over k of C(n, k) prod (e^(j/A) - 1),
    j = 1 … k. Summed as logarithms, since the terms are astronomical.
    """
    log_term = log_sum = 0.0
    for server in range(1, servers + 1):
        log_odds = server / offered_erlangs + math.log(-math.expm1(-server / offered_erlangs))
        log_term += log_odds + math.log((servers - server + 1) / server)
        log_sum = _log_add(log_sum, log_term)
    return math.exp(-log_sum)


def burst_blocking(offered_erlangs: float, servers: int, burst_size: float) -> float:
    """Blocking of calls that begin in bursts: bursts arrive independently, each of a geometric number of calls.

    A burst that finds too few free servers loses only the calls that do not fit. In equilibrium the flow from n calls
    down to n - 1 equals the flow of bursts that jump over n, which gives the distribution one state after the other.
    Exact for exponential durations; ``burst_size`` is then also the peakedness, the variance of the number of calls on
    unlimited servers over its mean.

    Args:
        offered_erlangs: Calls, not bursts.
        servers: Streams in all.
        burst_size: Mean calls per burst, at least 1; with 1 this is :func:`erlang_b`.
    """
    carry = 1 - 1 / burst_size
    blocking = 1.0
    for server in range(1, servers + 1):
        # Probability of this state over that of all states below it.
        odds = offered_erlangs / burst_size / server * blocking
        blocking = (odds + carry * blocking) / (1 + odds)
    return blocking


def least(sufficient: Callable[[int], bool]) -> int:
    """The smallest number from 1 on that is sufficient, if every greater one is sufficient too."""
    high = 1
    while not sufficient(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if sufficient(middle) else (middle, high)
    return high


def _log_add(first: float, second: float) -> float:
    greater = max(first, second)
    return greater + math.log1p(math.exp(-abs(first - second)))
