"""The simulation of a cluster, where its result can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.batch_sizing import Cluster, lengths, measure_foreman_s, simulate

FREE = Cluster(workers=1, rtf=0.1, load_s=5.0, scheduler_s=0.0, foreman_s=0.0, store_bytes_per_s=1e18)


def test_one_worker_hears_one_after_the_other() -> None:
    outcome = simulate([100.0, 50.0], FREE)
    assert outcome.wall_s == pytest.approx(5 + 15)
    assert outcome.done == 2


def test_two_workers_share() -> None:
    assert simulate([100.0, 60.0, 40.0], replace(FREE, workers=2)).wall_s == pytest.approx(5 + 10)


def test_the_last_recording_keeps_the_others_waiting_unless_the_longest_is_first() -> None:
    recordings = [10.0] * 10 + [100.0]
    assert simulate(recordings, replace(FREE, workers=2)).wall_s == pytest.approx(5 + 5 + 10)
    assert simulate(recordings[::-1], replace(FREE, workers=2)).wall_s == pytest.approx(5 + 10)


@pytest.mark.parametrize("name", ["scheduler_s", "foreman_s"])
def test_what_is_done_one_after_the_other_bounds_any_number_of_workers(name) -> None:
    outcome = simulate([1.0] * 1000, replace(FREE, workers=500, **{name: 0.5}))
    assert outcome.wall_s == pytest.approx(5 + 500, abs=1)
    assert (outcome.busiest, round(outcome.busiest_share, 2)) == (name.removesuffix("_s"), 0.99)


def test_the_store_bounds_what_can_be_read() -> None:
    outcome = simulate([100.0] * 1000, replace(FREE, workers=500, store_bytes_per_s=32_000 * 100.0))
    assert outcome.wall_s == pytest.approx(1000, rel=0.02)
    assert outcome.busiest == "store"


def test_a_foreman_is_not_held_up_by_a_recording_that_comes_back_later() -> None:
    outcome = simulate([1000.0, *[1.0] * 10], replace(FREE, workers=2, foreman_s=0.1))
    assert outcome.wall_s == pytest.approx(5 + 100 + 0.1)


def test_workers_that_end_lose_no_recording_and_cost_what_they_had_heard() -> None:
    outcome = simulate([100.0] * 200, replace(FREE, workers=4, deaths_per_hour=36.0))
    assert outcome.done == 200
    assert outcome.repeated_s > 0
    assert outcome.wall_s > simulate([100.0] * 200, replace(FREE, workers=4)).wall_s


def test_lengths_add_up() -> None:
    found = lengths(10, median_s=60, spread=1.0, seed=3)
    assert sum(found) == pytest.approx(36_000)
    assert sorted(found)[len(found) // 2] == pytest.approx(60, rel=0.25)


def test_the_foreman_is_measured_with_the_real_ledger(tmp_path) -> None:
    assert measure_foreman_s(tmp_path, transcripts=3) > 0
    assert len(list(tmp_path.glob("*.json"))) == 3
