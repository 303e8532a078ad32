"""Readings of a run: how often, and how many."""

from itertools import pairwise

import pytest

from edge_asr.bench.rig import MOST_SAMPLES, Notebook
from tests.bench.rigs import MIB, Bench, bench


def sampled(made: Bench, seconds: int, every_ms: float = 100) -> None:
    for moment in range(round(seconds * 1000 / every_ms)):
        made.rig.sample(moment * every_ms / 1000)
        made.clock.advance_ms(every_ms)


def test_a_reading_is_taken_once_a_second():
    made = bench()
    sampled(made, 5)
    assert [sample.at_s for sample in made.rig.samples] == [0, 1, 2, 3, 4]


def test_a_reading_says_what_was_done_so_far():
    made = bench()
    made.rss_bytes.append(70 * MIB)
    made.clock.advance_ms(2500)
    made.rig.sample(10.0, busy_ns=2_000_000_000)
    (sample,) = made.rig.samples
    assert (sample.at_s, sample.audio_s, sample.busy_s, sample.cpu_s) == (2.5, 10.0, 2.0, 2.5)
    assert sample.rss_bytes == 70 * MIB


def test_a_day_leaves_no_more_readings_than_some_minutes():
    made = bench()
    sampled(made, 24 * 3600, every_ms=1000)
    times = [sample.at_s for sample in made.rig.samples]
    assert MOST_SAMPLES / 2 <= len(times) <= MOST_SAMPLES
    assert times[0] == 0
    assert times[-1] == pytest.approx(24 * 3600, abs=300)
    assert len({late - early for early, late in pairwise(times)}) <= 2


def test_beginning_forgets_readings_and_times():
    made = bench()
    sampled(made, 3)
    made.rig.begin()
    assert made.rig.samples == []
    assert made.rig.elapsed() == (0, 0)


def test_a_minute_is_written_down_whole_and_a_day_is_not():
    assert Notebook.for_run_of(60.0) == Notebook(None, None)
    assert Notebook.for_run_of(86_400.0) == Notebook(250, 1000)
