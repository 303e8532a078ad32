"""The verdict before deployment, on runs that a test made up."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from edge_asr.bench.child import Task
from edge_asr.bench.document import Run, Violation
from edge_asr.bench.gate import Gate, Surroundings
from edge_asr.bench.selftest import EXTENTS, MOST_REMEDIES, Alternative, SelfTest, alternatives_of, self_test
from edge_asr.errors import ModelDamaged
from edge_asr.resources.topology import Core, Topology
from tests.bench.tasks import a_task, paced_run, throughput_run

HERE = Surroundings(chunk_ms=100.0, memory_bytes=1 << 30)
THROTTLED = Violation("throttled", "the firmware throttled the board")


class Machine:
    """Measures as it is told, and remembers what it was asked."""

    def __init__(self, rtf: Callable[[Task], float] = lambda _task: 0.1, **paced) -> None:
        self.asked: list[Task] = []
        self._rtf = rtf
        self._paced = paced

    def measure(self, task: Task) -> Run:
        self.asked.append(task)
        if task.configuration.mode == "throughput":
            return throughput_run(self._rtf(task))
        return paced_run(**self._paced)


def outcome_of(machine: Machine, length="default", **how) -> SelfTest:
    return self_test(a_task(), EXTENTS[length], HERE, measure=machine.measure, **how)


def test_a_model_that_keeps_up_passes():
    outcome = outcome_of(Machine())
    assert outcome.verdict == "PASS"
    assert all(gate.is_met for gate in outcome.judgement.outcomes)


def test_both_modes_are_measured_as_long_as_the_test_says():
    machine = Machine()
    outcome_of(machine, "quick")
    throughput, paced = machine.asked
    assert (throughput.configuration.mode, throughput.least_audio_s, throughput.most_s) == ("throughput", 6.0, 5.0)
    assert (paced.configuration.mode, paced.seconds) == ("paced", 6.0)


def test_a_model_that_is_too_slow_fails_by_name():
    outcome = outcome_of(Machine(rtf=lambda _task: 2.0))
    assert outcome.verdict == "FAIL"
    assert [gate.figure for gate in outcome.judgement.outcomes if not gate.is_met] == ["rtf_wall"]


@pytest.mark.parametrize(
    ("paced", "figure"),
    [
        ({"compute_ms": 60.0}, "chunk_compute_p90"),
        ({"compute_ms": 101.0}, "deadline_miss"),
        ({"backlog_s": 3.0}, "backlog_max"),
        ({"flush_ms": 1001.0}, "flush_latency_max"),
        ({"peak_bytes": 900 << 20}, "memory_peak"),
    ],
)
def test_each_gate_is_judged(paced, figure):
    outcome = outcome_of(Machine(**paced))
    assert outcome.verdict == "FAIL"
    assert figure in [gate.figure for gate in outcome.judgement.outcomes if not gate.is_met]


def test_few_recordings_are_enough_to_pass():
    outcome = outcome_of(Machine())
    (flush,) = (gate for gate in outcome.judgement.outcomes if gate.figure == "flush_latency_max")
    assert (flush.is_met, flush.value) == (True, 20.0)


def test_gates_of_the_user_stand_in_place_of_the_defaults():
    outcome = outcome_of(Machine(), gates=[Gate(figure="rtf_wall", max=0.05)])
    assert [gate.figure for gate in outcome.judgement.outcomes] == ["rtf_wall"]
    assert outcome.verdict == "FAIL"


def test_a_disturbed_run_is_invalid_and_nothing_else_is_tried():
    outcome = outcome_of(Machine(violations=(THROTTLED,), compute_ms=200.0), alternatives=pytest.fail)
    assert outcome.verdict == "INVALID"
    assert outcome.judgement.violations == (THROTTLED,)


def test_a_model_that_cannot_be_loaded_fails_and_says_why():
    asked: list[Task] = []

    def measure(task: Task) -> Run:
        asked.append(task)
        raise ModelDamaged("scripted", "it is no model")

    outcome = self_test(a_task(), EXTENTS["default"], HERE, measure=measure)
    assert outcome.verdict == "FAIL"
    assert len(asked) == 1
    assert "it is no model" in outcome.results[0].error
    assert outcome.results[0].error_code == "model_damaged"


def test_the_measured_chunk_is_what_gates_are_relative_to():
    elsewhere = Surroundings(chunk_ms=0.0, memory_bytes=1 << 30)
    outcome = self_test(a_task(), EXTENTS["default"], elsewhere, measure=Machine().measure)
    (compute,) = (gate for gate in outcome.judgement.outcomes if gate.figure == "chunk_compute_p90")
    assert compute.limit == 50.0


# Remedies


def threads(count: int) -> Alternative:
    return Alternative(f"engine.threads = {count}", a_task(threads=count))


def test_what_would_help_is_measured_and_not_guessed():
    machine = Machine(rtf=lambda task: 0.4 if task.configuration.threads == 2 else 2.0)
    outcome = outcome_of(machine, alternatives=lambda: [threads(2), threads(3)])
    assert outcome.verdict == "FAIL"
    assert [(remedy.change, remedy.would_pass) for remedy in outcome.remedies] == [
        ("engine.threads = 2", True),
        ("engine.threads = 3", False),
    ]
    assert outcome.remedies[0].figures["rtf_wall"] == 0.4


def test_a_remedy_must_meet_the_gates_of_the_user_too():
    machine = Machine(rtf=lambda task: 0.4 if task.configuration.threads == 2 else 2.0)
    outcome = outcome_of(machine, alternatives=lambda: [threads(2)], gates=[Gate(figure="rtf_wall", max=0.3)])
    assert [remedy.would_pass for remedy in outcome.remedies] == [False]


def test_a_remedy_that_was_disturbed_is_none():
    def measure(task: Task) -> Run:
        is_remedy = task.configuration.threads == 2
        if task.configuration.mode == "throughput":
            return throughput_run(0.1 if is_remedy else 2.0)
        return paced_run(violations=(THROTTLED,) if is_remedy else ())

    outcome = self_test(a_task(), EXTENTS["default"], HERE, measure=measure, alternatives=lambda: [threads(2)])
    (remedy,) = outcome.remedies
    assert (remedy.would_pass, remedy.violations) == (False, (THROTTLED,))


def test_no_more_than_some_are_tried():
    machine = Machine(rtf=lambda _task: 2.0)
    outcome = outcome_of(machine, alternatives=lambda: [threads(count) for count in range(2, 12)])
    assert len(outcome.remedies) == MOST_REMEDIES


def test_a_remedy_that_cannot_be_measured_says_why():
    def measure(task: Task) -> Run:
        if task.configuration.threads == 2:
            raise ModelDamaged("scripted", "it is no model")
        return Machine(rtf=lambda _task: 2.0).measure(task)

    outcome = self_test(a_task(), EXTENTS["default"], HERE, measure=measure, alternatives=lambda: [threads(2)])
    assert "it is no model" in outcome.remedies[0].error
    assert not outcome.remedies[0].would_pass


def test_a_quick_test_looks_for_no_remedy():
    outcome = outcome_of(Machine(rtf=lambda _task: 2.0), "quick", alternatives=pytest.fail)
    assert outcome.remedies == ()


def test_a_quick_test_does_not_wait_for_what_is_known():
    machine = Machine(rtf=lambda _task: 2.0)
    outcome = outcome_of(machine, "quick")
    assert outcome.verdict == "FAIL"
    assert [task.configuration.mode for task in machine.asked] == ["throughput"]


def test_other_threads_and_cores_are_proposed_without_second_threads_of_a_core():
    pairs = [Core(cpu, 0, 0, frozenset({cpu % 2, cpu % 2 + 2})) for cpu in range(4)]
    now = a_task(threads=1, cpus=(0, 1))
    proposed = list(alternatives_of(now, Topology(tuple(pairs)), lambda count, cpus: a_task(threads=count, cpus=cpus)))
    assert [(each.task.configuration.threads, each.task.configuration.cpus) for each in proposed] == [(2, (0, 1))]
    assert proposed[0].change == "engine.threads = 2 and worker.cpus = [0,1]"


# Providers


def on_npu(**changes) -> Task:
    return a_task(provider="rknn", **changes)


def test_the_configured_provider_stands_beside_the_processor_with_a_recommendation():
    def measure(task: Task) -> Run:
        is_npu = task.configuration.provider == "rknn"
        if task.configuration.mode == "throughput":
            return throughput_run(0.3 if is_npu else 0.1)
        return paced_run(0.05 if is_npu else 0.2)

    outcome = self_test(
        on_npu(), EXTENTS["default"], HERE, measure=measure, other_providers=lambda: [a_task(provider="cpu")]
    )
    assert outcome.providers is not None
    assert outcome.providers.recommended == "scripted · rknn · 1 thread"
    assert [row.freed for row in outcome.providers.rows] == [0.0, pytest.approx(0.75)]


def test_a_processor_that_is_cheaper_than_the_npu_is_recommended_and_the_verdict_stays():
    machine = Machine()
    outcome = self_test(
        on_npu(), EXTENTS["default"], HERE, measure=machine.measure, other_providers=lambda: [a_task(provider="cpu")]
    )
    assert outcome.verdict == "PASS"
    assert outcome.providers is not None
    assert outcome.providers.recommended == "scripted · 1 thread"


def test_a_quick_or_a_disturbed_test_compares_no_providers():
    assert outcome_of(Machine(), "quick", other_providers=pytest.fail).providers is None
    assert outcome_of(Machine(violations=(THROTTLED,)), other_providers=pytest.fail).providers is None


def test_operators_that_the_npu_left_to_the_processor_are_told_beside_the_verdict():
    outcome = self_test(on_npu(), EXTENTS["quick"], HERE, measure=Machine(provider_share=0.9).measure)
    assert outcome.verdict == "PASS"
    assert outcome.notes == (
        "scripted · paced · rknn · 1 thread: partial, 'rknn' ran 90% of the model's operators and the CPU the rest",
    )


def test_the_outcome_is_one_document():
    outcome = outcome_of(Machine())
    assert msgspec.json.decode(msgspec.json.encode(outcome), type=SelfTest) == outcome
