"""The distributions behind the intervals, against published tables."""

from __future__ import annotations

import math

import pytest

from edge_asr.distributions import binomial_cdf, normal_quantile, student_cdf, student_quantile


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (10, 2.228), (29, 2.045), (120, 1.980)],
)
def test_student_quantiles_are_those_of_the_table(degrees: int, quantile: float) -> None:
    assert student_quantile(0.975, degrees) == pytest.approx(quantile, abs=5e-4)


def test_student_t_is_symmetric() -> None:
    assert student_cdf(-1.3, 7) == pytest.approx(1 - student_cdf(1.3, 7))


def test_student_t_of_many_degrees_is_normal() -> None:
    assert student_quantile(0.975, 100_001) == pytest.approx(normal_quantile(0.975), abs=1e-4)


@pytest.mark.parametrize(("trials", "probability"), [(1, 0.5), (20, 0.9), (662, 0.01)])
def test_binomial_probabilities_are_sums_of_the_exact_terms(trials: int, probability: float) -> None:
    exact = [
        math.comb(trials, count) * probability**count * (1 - probability) ** (trials - count)
        for count in range(trials + 1)
    ]
    expected = [math.fsum(exact[: count + 1]) for count in range(trials + 1)]
    assert binomial_cdf(trials, probability) == pytest.approx(expected, abs=1e-12)
