"""Whether a long run stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

from edge_asr.bench.document import Chunks, Run, Sample
from edge_asr.bench.drift import MIB, drift_figures, drifts_of

HOUR_S = 3600.0


def soak(
    hours: float = 1.0,
    *,
    mib_per_hour: float = 0.0,
    cost_per_hour: float = 0.0,
    latency_per_hour: float = 0.0,
    celsius_per_hour: float = 0.0,
    is_accelerated: bool = False,
    seed: int = 0,
) -> Run:
    """400 readings with a little noise; accelerated: ten times as fast as speech."""
    noise = np.random.default_rng(seed).normal(size=(400, 4))
    at_s = np.linspace(0.0, hours * HOUR_S, 400)
    pace = 10.0 if is_accelerated else 1.0
    hour = at_s / HOUR_S
    cost = 0.1 * (1 + cost_per_hour * hour + 0.01 * noise[:, 0])
    spent_s = np.cumsum(cost) * at_s[1]
    samples = tuple(
        Sample(
            at_s=float(at_s[index] / pace),
            audio_s=float(at_s[index]),
            rss_bytes=round((60 + mib_per_hour * hour[index] + 0.01 * noise[index, 1]) * MIB),
            cpu_s=float(spent_s[index]),
            busy_s=float(spent_s[index]) if is_accelerated else 0.0,
            celsius=float(50 + celsius_per_hour * hour[index] + 0.1 * noise[index, 2]),
        )
        for index in range(400)
    )
    latency_ms = tuple((40 * (1 + latency_per_hour * hour + 0.02 * noise[:, 3])).tolist())
    chunks = Chunks(chunk_ms=320.0, latency_ms=latency_ms, compute_ms=latency_ms, at_s=tuple(at_s.tolist()))
    return Run(repetition=0, order=0, samples=samples, chunks=None if is_accelerated else chunks)


def drifting(run: Run) -> set[str]:
    return {drift.figure for drift in drifts_of([run])}


def test_what_stays_as_it_was_does_not_drift():
    for seed in range(20):
        assert drifting(soak(seed=seed)) == set()


def test_memory_that_leaks_drifts():
    run = soak(mib_per_hour=3.0)
    assert drifting(run) == {"memory_growth"}
    assert "memory grows by 3.0 MiB/h" in drifts_of([run])[0].message
    assert drift_figures(run)["memory_growth"].value == pytest.approx(3 * MIB, rel=0.05)


def test_a_leak_below_the_limit_has_a_figure_and_no_verdict():
    run = soak(mib_per_hour=0.5)
    figure = drift_figures(run)["memory_growth"]
    assert figure.low is not None
    assert figure.low > 0
    assert drifting(run) == set()


def test_one_step_of_the_allocator_is_no_leak():
    assert drifting(soak(hours=0.25, mib_per_hour=3.0)) == set()


@pytest.mark.parametrize(("per_hour", "found"), [(0.05, {"rtf_drift"}), (0.01, set()), (-0.2, set())])
def test_cost_that_grows_by_more_than_two_percent_drifts(per_hour, found):
    assert drifting(soak(hours=4.0, cost_per_hour=per_hour)) == found


@pytest.mark.parametrize(("per_hour", "found"), [(0.05, {"latency_drift"}), (0.01, set())])
def test_latency_that_grows_by_more_than_two_percent_drifts(per_hour, found):
    assert drifting(soak(hours=4.0, latency_per_hour=per_hour)) == found


def test_heat_has_a_figure_and_no_verdict():
    run = soak(celsius_per_hour=5.0)
    assert drift_figures(run)["temperature_drift"].value == pytest.approx(5.0, rel=0.1)
    assert drift_figures(run)["temperature_drift"].unit == "°C per hour"
    assert drifting(run) == set()


def test_an_accelerated_soak_counts_hours_of_audio():
    figures = drift_figures(soak(hours=24.0, mib_per_hour=2.0, cost_per_hour=0.05, is_accelerated=True))
    assert figures["memory_growth"].value == pytest.approx(2 * MIB, rel=0.05)
    assert figures["rtf_drift"].value == pytest.approx(0.1 * 0.05, rel=0.1)
    assert "latency_drift" not in figures


def test_a_short_run_knows_its_growth_only():
    figures = drift_figures(soak(hours=0.1, mib_per_hour=100.0))
    assert set(figures) == {"memory_growth"}
    assert drifting(soak(hours=0.1, mib_per_hour=100.0)) == set()


def test_a_run_without_readings_has_no_growth():
    figure = drift_figures(Run(repetition=0, order=0))["memory_growth"]
    assert (figure.value, figure.note) == (None, "n too small (0, 8 needed)")
