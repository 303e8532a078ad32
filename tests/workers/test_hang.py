"""When a worker is taken to hang: soon where the kernel is certain, after its time-outs otherwise."""

from __future__ import annotations

import pytest

from edge_asr.resources.processes import ProcessActivity
from edge_asr.settings import WorkerSettings
from edge_asr.workers.hang import SAMPLE_EVERY_S, SPOKE_S, HangWatch

STOPPED = ProcessActivity(frozenset("T"), 7)
ASLEEP = ProcessActivity(frozenset("S"), 7)
WAITS_FOR_DISK = ProcessActivity(frozenset("DS"), 7)


@pytest.fixture
def watch() -> HangWatch:
    return HangWatch(WorkerSettings(hang_timeout_s=10.0, stall_timeout_s=60.0))


def verdicts(watch: HangWatch, activity: ProcessActivity | None, seconds: float, *, begin_s: float = 0.0) -> list[str]:
    """What it says at each sample while nothing comes from the worker."""
    samples = round(seconds / SAMPLE_EVERY_S)
    times = [begin_s + SAMPLE_EVERY_S * number for number in range(samples + 1)]
    return [watch.reason(activity, now_s, now_s - begin_s, now_s - begin_s) for now_s in times]


def test_a_stopped_worker_is_known_at_the_second_look(watch: HangWatch) -> None:
    assert verdicts(watch, STOPPED, SAMPLE_EVERY_S) == ["", "it was stopped by a signal"]


def test_a_worker_that_a_debugger_holds_is_given_its_time(watch: HangWatch) -> None:
    held = ProcessActivity(frozenset("t"), 7)
    assert not any(verdicts(watch, held, 10.0))


def test_a_worker_of_which_no_thread_has_run_is_known_before_its_time_out(watch: HangWatch) -> None:
    said = verdicts(watch, ASLEEP, 1.75)
    assert not any(said[:-1])
    assert said[-1] == "it has not run for 1.8 s although there is work"


@pytest.mark.parametrize("activity", [WAITS_FOR_DISK, None], ids=["disk", "unknown"])
def test_a_worker_that_is_only_slow_has_its_whole_time_out(watch: HangWatch, activity: ProcessActivity | None) -> None:
    said = verdicts(watch, activity, 10.25)
    assert not any(said[:-1])
    assert said[-1] == "it did not answer for 10 s"


def silent_with_cores(watch: HangWatch, share: float, seconds: float) -> list[str]:
    """What it says of a worker that gets so much of a core, and says nothing."""
    times = [SAMPLE_EVERY_S * number for number in range(round(seconds / SAMPLE_EVERY_S) + 1)]
    samples = [ProcessActivity(frozenset("RS"), number, share * now_s) for number, now_s in enumerate(times)]
    return [watch.reason(sample, now_s, now_s, now_s) for sample, now_s in zip(samples, times, strict=True)]


def test_a_worker_that_gets_hardly_any_of_a_core_is_starved_and_does_not_hang(watch: HangWatch) -> None:
    assert not any(silent_with_cores(watch, 0.1, 30.0))


def test_a_worker_that_computes_and_says_nothing_hangs(watch: HangWatch) -> None:
    said = silent_with_cores(watch, 0.9, 10.25)
    assert not any(said[:-1])
    assert said[-1] == "it did not answer for 10 s"


def test_a_starved_worker_that_decodes_nothing_is_replaced_all_the_same(watch: HangWatch) -> None:
    assert silent_with_cores(watch, 0.0, 60.25)[-1] == "it decoded nothing for 60 s"


def test_what_it_computed_before_it_spoke_last_does_not_count(watch: HangWatch) -> None:
    silent_with_cores(watch, 0.9, 8.0)
    assert watch.reason(None, 8.25, 0.1, 0.1) == ""
    again = ProcessActivity(frozenset("R"), 99, 8.0)
    assert watch.reason(again, 8.5, 0.5, 0.5) == ""
    assert watch.reason(ProcessActivity(frozenset("R"), 100, 9.0), 18.5, 10.5, 10.5) == ""


def test_a_worker_that_runs_now_and_then_is_not_asleep(watch: HangWatch) -> None:
    for number in range(20):
        woken = ProcessActivity(frozenset("S"), number)
        assert watch.reason(woken, number * SAMPLE_EVERY_S, 5.0, 5.0) == ""


def test_a_worker_that_speaks_is_not_asleep(watch: HangWatch) -> None:
    assert not any(watch.reason(ASLEEP, number * SAMPLE_EVERY_S, 0.5, 0.5) for number in range(20))


def test_a_worker_that_has_just_spoken_is_left_alone_until_it_is_silent() -> None:
    assert HangWatch.next_look_s(0.125) == SPOKE_S - 0.125
    assert HangWatch.next_look_s(SPOKE_S) == HangWatch.next_look_s(5.0) == SAMPLE_EVERY_S


def test_a_worker_that_is_looked_at_only_since_it_is_silent_is_known_as_early(watch: HangWatch) -> None:
    samples = [SPOKE_S + SAMPLE_EVERY_S * number for number in range(6)]
    said = [watch.reason(ASLEEP, silent_s, silent_s, silent_s) for silent_s in samples]
    assert samples[-1] == 1.75
    assert [bool(reason) for reason in said] == [False] * 5 + [True]


def test_a_worker_whose_heartbeat_is_not_overdue_may_sleep(watch: HangWatch) -> None:
    assert not any(verdicts(watch, ASLEEP, 1.5))


def test_nothing_is_concluded_by_a_front_that_was_held_up_itself(watch: HangWatch) -> None:
    assert watch.reason(ASLEEP, 0.0, 0.0, 0.0) == ""
    assert watch.reason(ASLEEP, 8.0, 8.0, 8.0) == ""


def test_what_it_did_without_sessions_is_forgotten(watch: HangWatch) -> None:
    assert not any(watch.reason(ASLEEP, number * SAMPLE_EVERY_S, 0.0, 0.0) for number in range(20))
    watch.forget()
    assert watch.reason(ASLEEP, 10.0, 3.0, 3.0) == ""


def test_a_worker_that_lives_and_decodes_nothing_is_known_after_its_time_out(watch: HangWatch) -> None:
    busy = ProcessActivity(frozenset("R"), 7)
    assert watch.reason(busy, 0.0, 1.0, 59.9) == ""
    assert watch.reason(busy, 0.5, 1.0, 61.0) == "it decoded nothing for 61 s"
