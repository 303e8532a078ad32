from __future__ import annotations

import math

import pytest

from edge_asr.errors import Overloaded
from edge_asr.sessions.admission import Admission, Candidate
from edge_asr.sessions.heat import Heat
from edge_asr.sessions.load import WorkerLoad
from edge_asr.settings import AdmissionSettings

NOW_NS = 6_000_000_000_000


def worker(capacity: int, sessions: int = 0, *, opened_ns: int = 0, is_out_of_memory: bool = False) -> Candidate:
    """One that carries so many streams, by its profile, and has so many sessions that talk all the time."""
    load = WorkerLoad(AdmissionSettings(streams=capacity), 0.32, max_batch=16, cores=1)
    return Candidate(load, (opened_ns,) * sessions, is_out_of_memory=is_out_of_memory)


def admission(max_sessions: int = 100, **settings: object) -> Admission:
    return Admission(AdmissionSettings(**settings), max_sessions)  # type: ignore[arg-type]


def admit(policy: Admission, *workers: Candidate, is_batch: bool = False) -> str:
    named = {str(number): worker for number, worker in enumerate(workers)}
    sessions = sum(len(worker.opened_ns) for worker in workers)
    return policy.admit(named, sessions, is_batch=is_batch, now_ns=NOW_NS)


def test_a_session_goes_where_it_makes_the_least_load() -> None:
    assert admit(admission(), worker(8, 6), worker(4, 1)) == "1"
    assert admit(admission(), worker(100, 2), worker(80, 1)) == "1", "not all to the one that can do a little more"


def test_recordings_are_spread_among_the_workers() -> None:
    busy = Candidate(worker(8).load, (), recordings=1)
    assert admit(admission(), busy, worker(8, 3), is_batch=True) == "1"


def test_among_equals_it_goes_where_the_fewest_are() -> None:
    assert admit(admission(), worker(0, 3), worker(0, 1)) == "1"


def test_one_stream_more_than_fits_is_refused_with_the_figures() -> None:
    with pytest.raises(Overloaded, match=r"keeps up with 4\.0 streams that talk, and the 4 that are open need 4\.0"):
        admit(admission(), worker(4, 4))


def test_a_machine_too_slow_for_one_stream_still_serves_one() -> None:
    policy = admission(lighter_model="small")
    policy.heat = Heat(frequency_share=0.5)
    assert admit(policy, worker(1)) == "0"
    assert policy.choose_model({"0": worker(1)}, NOW_NS) == ""
    with pytest.raises(Overloaded):
        admit(policy, worker(1, 1))


def test_the_limit_of_sessions_holds_whatever_the_capacity() -> None:
    with pytest.raises(Overloaded, match="all 2 sessions are in use"):
        admit(admission(max_sessions=2), worker(100, 2))


def test_without_a_limit_by_load_only_the_number_counts() -> None:
    assert admit(admission(enabled=False), worker(4, 40)) == "0"


def test_a_recording_needs_no_room() -> None:
    assert admit(admission(), worker(4, 4), is_batch=True) == "0"


def test_a_worker_at_its_memory_limit_gets_nothing() -> None:
    assert admit(admission(), worker(8, is_out_of_memory=True), worker(8, 7)) == "1"
    with pytest.raises(Overloaded, match="at its memory limit and is being replaced"):
        admit(admission(), worker(8, is_out_of_memory=True), is_batch=True)


def test_heat_lowers_the_capacity_and_is_named() -> None:
    policy = admission()
    policy.heat = Heat(temperature_c=80.0, limit_c=80.0)
    assert admit(policy, worker(8, 3)) == "0"
    with pytest.raises(Overloaded, match=r"keeps up with 4\.0 streams that talk \(it is at 80 °C of 80 °C\)"):
        admit(policy, worker(8, 4))


def test_a_refusal_says_when_sessions_will_have_ended() -> None:
    policy = admission()
    for second in range(20):
        policy.session_ended(NOW_NS - second * 1_000_000_000, duration_s=600.0)
    hints_s = []
    for _ in range(2):
        with pytest.raises(Overloaded) as refusal:
            admit(policy, worker(1, 1))
        hints_s.append(refusal.value.retry_after_s)
    assert hints_s == [3.0, 6.0]


# The lighter model.


def test_without_a_lighter_model_there_is_no_other_choice() -> None:
    assert admission().choose_model({"0": worker(4, 4)}, NOW_NS) == ""


def test_the_lighter_model_serves_new_sessions_until_the_load_has_fallen() -> None:
    policy = admission(lighter_model="small", lighter_above=0.75, lighter_until=0.5)
    chosen = [policy.choose_model({"0": worker(4, sessions)}, NOW_NS) for sessions in (2, 3, 3, 2, 2)]
    assert chosen == ["", "small", "small", "", ""]


def test_one_worker_with_room_is_enough_for_the_active_model() -> None:
    policy = admission(lighter_model="small")
    assert policy.choose_model({"0": worker(4, 4), "1": worker(4, 2)}, NOW_NS) == ""


def test_the_lighter_model_shares_the_cores_with_the_active_one() -> None:
    """Three of four streams are taken there, so a quarter of its eight is left here."""
    policy = admission()
    busy = Candidate(worker(8).load, (0,), others_load=0.75)
    assert admit(policy, busy) == "0"
    with pytest.raises(Overloaded, match=r"keeps up with 2\.0 streams that talk, and the 2 that are open need 2\.0"):
        admit(policy, Candidate(worker(8).load, (0, 0), others_load=0.75))


def test_a_first_session_is_not_free_where_another_model_uses_the_cores() -> None:
    with pytest.raises(Overloaded):
        admit(admission(), Candidate(worker(8).load, (), others_load=0.9))


def test_load_is_what_is_needed_by_what_can_be_done() -> None:
    assert admission().load(worker(4, 1), NOW_NS) == pytest.approx(0.25)
    assert admission().load(worker(0, 1), NOW_NS) == 0.0, "nothing is known"
    policy = admission()
    policy.heat = Heat(frequency_share=0.0)
    assert policy.load(worker(4, 1), NOW_NS) == math.inf
