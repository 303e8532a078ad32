from __future__ import annotations

from edge_asr.settings import WorkerSettings
from edge_asr.workers.backoff import SOON, WINDOW_S, Backoff


def test_the_first_restarts_come_soon_and_then_delays_double_up_to_the_longest():
    backoff = Backoff(WorkerSettings(restart_delay_s=0.5, max_restart_delay_s=3))
    assert [backoff.after_death(1) for _ in range(SOON)] == [0.5] * SOON
    assert [backoff.after_death(1) for _ in range(4)] == [1, 2, 3, 3]


def test_deaths_far_apart_are_each_the_first():
    backoff = Backoff(WorkerSettings(restart_delay_s=0.5))
    assert [backoff.after_death(WINDOW_S / SOON) for _ in range(5 * SOON)] == [0.5] * 5 * SOON


def test_a_worker_that_lived_long_starts_the_count_over():
    backoff = Backoff(WorkerSettings(restart_delay_s=0.5))
    delays = [backoff.after_death(0) for _ in range(SOON + 2)]
    assert delays[-1] == 2
    assert backoff.after_death(WINDOW_S) == 0.5


def test_even_no_delay_becomes_one_when_workers_keep_dying():
    backoff = Backoff(WorkerSettings(restart_delay_s=0))
    assert [backoff.after_death(0) for _ in range(SOON + 3)] == [0] * SOON + [0.2, 0.4, 0.8]


def test_a_model_that_cannot_be_loaded_gets_the_longest_delay_at_once():
    backoff = Backoff(WorkerSettings(restart_delay_s=0.5, max_restart_delay_s=30))
    assert backoff.after_failed_load() == 30
    assert backoff.after_death(1) == 0.5
