from __future__ import annotations

from edge_asr.settings import WorkerSettings
from edge_asr.workers.backoff import STABLE_AFTER_S, Backoff


def test_delays_double_up_to_the_longest():
    backoff = Backoff(WorkerSettings(restart_delay_s=0.5, max_restart_delay_s=3))
    assert [backoff.after_death(1) for _ in range(5)] == [0.5, 1, 2, 3, 3]


def test_a_worker_that_lived_long_starts_the_count_over():
    backoff = Backoff(WorkerSettings(restart_delay_s=0.5))
    backoff.after_death(1)
    backoff.after_death(1)
    assert backoff.after_death(STABLE_AFTER_S) == 0.5
    assert backoff.after_death(1) == 1


def test_even_no_delay_becomes_one_when_workers_keep_dying():
    backoff = Backoff(WorkerSettings(restart_delay_s=0))
    assert [backoff.after_death(0) for _ in range(4)] == [0, 0.1, 0.2, 0.4]


def test_a_model_that_cannot_be_loaded_gets_the_longest_delay_at_once():
    backoff = Backoff(WorkerSettings(restart_delay_s=0.5, max_restart_delay_s=30))
    assert backoff.after_failed_load() == 30
    assert backoff.after_death(1) == 0.5
