"""The binomial and Student's t distribution, as far as intervals need them; no SciPy on the board."""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt


@functools.lru_cache(maxsize=64)
def binomial_cdf(trials: int, probability: float) -> npt.NDArray[np.float64]:
    """P(B <= k) for k = 0 … trials, shape (trials + 1,); B counts successes of ``probability`` in (0, 1)."""
    log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, trials + 1)))))
    successes = np.arange(trials + 1)
    log_mass = (
        log_factorial[trials]
        - log_factorial
        - log_factorial[::-1]
        + successes * math.log(probability)
        + (trials - successes) * math.log1p(-probability)
    )
    cumulated: npt.NDArray[np.float64] = np.minimum(np.cumsum(np.exp(log_mass)), 1.0)
    cumulated.setflags(write=False)
    return cumulated


def normal_cdf(value: float) -> float:
    """P(Z <= value) of the standard normal distribution."""
    return NormalDist().cdf(value)


def normal_quantile(probability: float) -> float:
    """The value that a standard normal variable stays below with this probability, in (0, 1)."""
    return NormalDist().inv_cdf(probability)


def student_cdf(value: float, degrees: int) -> float:
    """P(T <= value) of Student's t with whole degrees of freedom (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(value / math.sqrt(degrees))
    cosine_squared = math.cos(angle) ** 2
    is_odd = degrees % 2
    term = total = math.cos(angle) if is_odd else 1.0
    for step in range(2 + is_odd, degrees - 1, 2):
        term *= cosine_squared * (step - 1) / step
        total += term
    if is_odd:
        within = 2 / math.pi * (angle + math.sin(angle) * (total if degrees > 1 else 0.0))
    else:
        within = math.sin(angle) * total
    return (1 + within) / 2


@functools.lru_cache(maxsize=256)
def student_quantile(probability: float, degrees: int) -> float:
    """The value that Student's t stays below with this probability in [0.5, 1), found by bisection."""
    low, high = 0.0, 1.0
    while student_cdf(high, degrees) < probability:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, degrees) < probability else (low, middle)
    return (low + high) / 2
