from __future__ import annotations

import math

import pytest

from edge_asr.sessions.load import Report, WorkerLoad, talkers
from edge_asr.sessions.step_cost import StepSums
from edge_asr.settings import AdmissionSettings

CHUNK_S = 0.32


def loaded(settings: AdmissionSettings | None = None, chunk_s: float = CHUNK_S) -> WorkerLoad:
    return WorkerLoad(settings or AdmissionSettings(), chunk_s, max_batch=16, cores=1)


def report(
    sessions: int, talking: float, *, seconds: float = 1.0, step_s: float = 0.01, late: int = 0, around_s: float = 0.0
) -> Report:
    """What one second of work looks like with so many sessions, of which so many talk, in steps of one stream."""
    steps = talking * seconds / CHUNK_S
    return Report(
        seconds=seconds,
        steps=StepSums(steps, steps, steps, steps * step_s, steps * step_s, around_s),
        live_steps=steps,
        audio_s=talking * seconds,
        live_audio_s=talking * seconds,
        live_decode_s=steps * step_s,
        live_sessions=sessions,
        late_steps=late,
    )


def test_nobody_is_turned_away_before_anything_is_known() -> None:
    assert loaded().capacity == math.inf


def test_the_board_profile_counts_before_the_first_steps() -> None:
    assert loaded(AdmissionSettings(streams=4)).capacity == 4
    assert loaded(AdmissionSettings(streams=4, cpu_per_audio=0.05)).capacity == pytest.approx(18)


def test_without_a_profile_the_steps_of_the_loading_count() -> None:
    load = loaded()
    load.supposed_step_s = 0.032
    assert load.capacity == pytest.approx(9.0)


def test_what_is_measured_counts_more_than_the_profile() -> None:
    load = loaded(AdmissionSettings(streams=4))
    load.report(report(10, 10))
    assert load.capacity == pytest.approx(28.8)


def test_a_model_of_whole_stretches_goes_by_the_time_of_a_second_of_audio() -> None:
    load = loaded(chunk_s=0.0)
    load.report(report(10, 10, seconds=2, step_s=0.032))
    assert load.capacity == pytest.approx(9.0)


def test_what_the_worker_does_around_its_steps_counts_too() -> None:
    load = loaded()
    load.report(report(10, 10, around_s=10 / CHUNK_S * 0.006))
    assert load.capacity == pytest.approx(18.0)


def test_a_model_of_whole_stretches_is_held_up_by_the_work_around_it() -> None:
    load = loaded(chunk_s=0.0)
    load.report(report(10, 10, seconds=2, step_s=0.032, around_s=2.0))
    assert load.capacity == pytest.approx(4.5)


def test_recordings_beside_live_sessions_take_nothing_from_a_model_of_whole_stretches() -> None:
    """Four talk in every other minute, and what time they leave goes to recordings, as in a worker."""
    decode_s, around_s = 0.1, 0.05  # that a second of anybody's audio takes
    load = loaded(chunk_s=0.0)
    seen = []
    for second in range(600):
        live = 4.0 if second // 60 % 2 == 0 else 0.0
        audio_s = 1.0 / (decode_s + around_s)
        steps = StepSums(2.0, 2.0, 2.0, audio_s * decode_s, audio_s * decode_s, audio_s * around_s)
        load.report(Report(1.0, steps, live, audio_s, live, live * decode_s, 4, 0))
        seen.append(load.capacity)
    assert seen[3:] == pytest.approx([0.9 / (decode_s + around_s)] * 597)


def test_new_sessions_are_expected_to_talk_all_the_time() -> None:
    assert loaded().needed(0, 5) == 5


def test_after_a_while_sessions_are_expected_to_talk_as_they_did() -> None:
    load = loaded()
    for _ in range(600):
        load.report(report(10, 4))
    assert load.talk_share == pytest.approx(0.4, abs=0.01)
    assert load.needed(100, 0) == pytest.approx(100 * 0.4 + 2.33 * math.sqrt(24), abs=1)
    assert load.needed(0, 5) == 5


def test_a_sender_that_is_faster_than_speech_counts_as_one_session() -> None:
    load = loaded()
    for _ in range(100):
        load.report(report(1, 20))
    assert load.talk_share == 1.0


def test_never_more_sessions_talk_than_there_are() -> None:
    assert talkers((1, 0.4)) == 1.0
    assert talkers((2, 1.0), (3, 1.0)) == 5.0


def test_late_steps_lower_the_capacity_and_time_gives_it_back() -> None:
    load = loaded()
    load.report(report(10, 10))
    for _ in range(3):
        load.report(report(10, 10, late=2))
    assert load.capacity == pytest.approx(28.8 * 0.95**3)
    for _ in range(20):
        load.report(report(100, 100, late=1))
    assert load.capacity == pytest.approx(28.8)


def test_a_model_of_whole_stretches_is_never_late() -> None:
    load = loaded(chunk_s=0.0)
    for _ in range(3):
        load.report(report(10, 10, seconds=2, step_s=0.032, late=5))
    assert load.capacity == pytest.approx(9.0)


def test_a_report_of_no_time_is_passed_over() -> None:
    load = loaded()
    load.report(report(10, 10, seconds=0.0))
    assert load.capacity == math.inf


def test_busy_is_the_share_of_time_in_the_engine() -> None:
    load = loaded()
    load.report(report(10, 10))
    assert load.busy == pytest.approx(10 / 0.32 * 0.01)
