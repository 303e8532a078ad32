"""The search for the cheapest setting, on runs that a test made up."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from edge_asr.bench.child import Task
from edge_asr.bench.document import Run, Violation
from edge_asr.bench.gate import Surroundings
from edge_asr.bench.tune import (
    FINAL_REPETITIONS,
    FINAL_S,
    FINALISTS,
    FIRST_ROUND_S,
    Setting,
    Tuning,
    candidates,
    default_setting,
    tune,
)
from edge_asr.errors import MachineError
from edge_asr.resources.topology import Core, Topology
from tests.bench.tasks import a_task, paced_run

HERE = Surroundings(chunk_ms=100.0, memory_bytes=1 << 30)
DEFAULT = Setting(threads=1, cpus=(0,))


def task_of(setting: Setting) -> Task:
    return a_task(threads=setting.threads, cpus=setting.cpus, allow_spinning=setting.allow_spinning)


class Machine:
    """Each number of threads has its cost; every repetition is a little dearer than the one before."""

    def __init__(self, costs: dict[int, float], **changes) -> None:
        self.asked: list[Task] = []
        self._costs = costs
        self._changes = changes

    def measure(self, task: Task) -> Run:
        self.asked.append(task)
        threads = task.configuration.threads
        cost = self._costs[threads] * (1 + len(self.asked) / 10_000)
        return paced_run(cost, **self._changes.get(f"t{threads}", {}))


def tuned(measure: Callable[[Task], Run], *threads: int) -> Tuning:
    field = [Setting(threads=count, cpus=(0,)) for count in threads]
    return tune(field, DEFAULT, task_of, HERE, progress=lambda *_: None, measure=measure)


def test_the_cheapest_setting_wins_with_its_evidence():
    machine = Machine({1: 0.4, 2: 0.3, 3: 0.2, 4: 0.5})
    outcome = tuned(machine.measure, 1, 2, 3, 4)
    assert outcome.chosen.threads == 3
    assert not outcome.is_default
    assert outcome.ratio == pytest.approx(0.5, rel=0.01)
    assert outcome.ratio_high is not None
    assert outcome.ratio_high < 1
    assert outcome.meets_gates
    assert outcome.is_valid


def test_each_round_halves_the_field_and_doubles_the_time():
    machine = Machine({threads: threads / 10 for threads in range(1, 13)})
    outcome = tuned(machine.measure, *range(1, 13))
    rounds = [[trial.setting.threads for trial in outcome.trials if trial.round == number] for number in range(3)]
    assert [len(entries) for entries in rounds] == [12, 6, FINALISTS]
    assert sorted(rounds[1]) == [1, 2, 3, 4, 5, 6]
    assert sorted(rounds[2]) == [1, 2, 3]
    seconds = [task.seconds for task in machine.asked]
    assert seconds == [FIRST_ROUND_S] * 12 + [2 * FIRST_ROUND_S] * 6 + [FINAL_S] * FINALISTS * FINAL_REPETITIONS


def test_the_default_reaches_the_final_however_dear_it_is():
    machine = Machine({1: 9.0, **{threads: threads / 10 for threads in range(2, 9)}})
    outcome = tuned(machine.measure, *range(2, 9))
    assert DEFAULT in [trial.setting for trial in outcome.trials][-FINALISTS:]
    assert outcome.chosen.threads == 2


def test_few_candidates_go_straight_to_the_final():
    machine = Machine({1: 0.4, 2: 0.3})
    outcome = tuned(machine.measure, 1, 2)
    assert len(machine.asked) == 2 * FINAL_REPETITIONS
    assert {trial.round for trial in outcome.trials} == {0}


def test_the_default_stays_where_another_is_cheaper_by_chance_only():
    noise = iter([0.30, 0.35, 0.25, 0.33, 0.28, 0.31, 0.26, 0.34, 0.29, 0.32] * 10)
    outcome = tuned(lambda _task: paced_run(next(noise)), 1, 2)
    assert outcome.is_default
    assert outcome.chosen == DEFAULT
    assert outcome.ratio is None


def test_a_default_that_is_cheapest_stays():
    outcome = tuned(Machine({1: 0.1, 2: 0.3, 3: 0.2}).measure, 1, 2, 3)
    assert outcome.is_default


def test_a_dear_setting_that_keeps_up_beats_a_cheap_one_that_does_not():
    machine = Machine({1: 0.1, 2: 0.3}, t1={"compute_ms": 150.0})
    outcome = tuned(machine.measure, 1, 2)
    assert (outcome.chosen.threads, outcome.meets_gates) == (2, True)


def test_nothing_that_keeps_up_is_said():
    slow = {"compute_ms": 150.0}
    outcome = tuned(Machine({1: 0.1, 2: 0.3}, t1=slow, t2=slow).measure, 1, 2)
    assert not outcome.meets_gates


def test_a_disturbed_final_is_not_valid():
    late = {"violations": (Violation("foreign_load", "other programs took 30 %"),)}
    outcome = tuned(Machine({1: 0.1, 2: 0.3}, t2=late).measure, 1, 2)
    assert not outcome.is_valid
    assert [trial.violations for trial in outcome.trials if trial.setting.threads == 2] == [("foreign_load",)]


def test_a_setting_that_cannot_be_measured_loses_and_is_not_tried_again():
    asked: list[int] = []

    def measure(task: Task) -> Run:
        asked.append(task.configuration.threads)
        if task.configuration.threads == 2:
            raise MachineError("no such core")
        return paced_run(0.3)

    outcome = tuned(measure, 1, 2)
    assert outcome.chosen == DEFAULT
    assert asked.count(2) == 1
    assert [trial.error for trial in outcome.trials if trial.setting.threads == 2] == ["no such core"]


def test_the_final_is_interleaved():
    machine = Machine({1: 0.1, 2: 0.3})
    tuned(machine.measure, 1, 2)
    pairs = [task.configuration.threads for task in machine.asked]
    assert all(sorted(pairs[first : first + 2]) == [1, 2] for first in range(0, len(pairs), 2))


def test_the_outcome_is_one_document():
    outcome = tuned(Machine({1: 0.4, 2: 0.3}).measure, 1, 2)
    assert msgspec.json.decode(msgspec.json.encode(outcome), type=Tuning) == outcome


# Providers

ON_NPU = Setting(threads=1, cpus=(0,), provider="qnn")


def tuned_with_npu(measure: Callable[[Task], Run]) -> Tuning:
    def make(setting: Setting) -> Task:
        return a_task(threads=setting.threads, cpus=setting.cpus, provider=setting.provider)

    return tune([ON_NPU], DEFAULT, make, HERE, progress=lambda *_: None, measure=measure)


def test_an_npu_that_frees_the_processor_is_chosen():
    outcome = tuned_with_npu(lambda task: paced_run(0.05 if task.configuration.provider == "qnn" else 0.3))
    assert outcome.chosen == ON_NPU
    assert outcome.chosen.sentence().startswith('engine.provider = "qnn", engine.threads = 1')


def test_an_npu_that_hears_worse_is_not_chosen_however_cheap():
    def measure(task: Task) -> Run:
        run = paced_run(0.05 if task.configuration.provider == "qnn" else 0.3)
        if task.configuration.provider == "cpu":
            return run
        heard = msgspec.structs.replace(run.utterances[0], errors=1)
        return msgspec.structs.replace(run, utterances=(heard,))

    outcome = tuned_with_npu(measure)
    assert outcome.chosen == DEFAULT
    assert [(trial.error_rate, trial.hears_worse) for trial in outcome.trials] == [(0.0, False), (0.1, True)]


def test_a_provider_in_whose_place_another_ran_is_out_and_spoils_nothing():
    fell = Violation("provider_fell_back", "the provider fell back: 'cpu (asked: qnn)' ran instead of 'qnn'")

    def measure(task: Task) -> Run:
        return paced_run(violations=(fell,) if task.configuration.provider == "qnn" else ())

    outcome = tuned_with_npu(measure)
    assert (outcome.chosen, outcome.is_valid) == (DEFAULT, True)
    assert "the provider fell back" in next(trial.error for trial in outcome.trials if trial.setting == ON_NPU)


def test_an_npu_is_tried_with_one_thread_on_each_set_of_cores():
    found = candidates(Topology(tuple(map(core, range(4)))), 1, 16, ("cpu", "rknn"))
    on_npu = [(each.threads, each.cpus) for each in found if each.provider == "rknn"]
    assert on_npu == [(1, (0, 1, 2, 3)), (1, (1, 2, 3))]
    assert [each for each in found if each.provider == "cpu"] == candidates(Topology(tuple(map(core, range(4)))), 1, 16)


# Candidates


def core(cpu: int, capacity: int = 0, *siblings: int) -> Core:
    return Core(cpu, capacity, 0, frozenset({cpu, *siblings}))


def settings(topology: Topology, streams: int = 1, max_batch: int = 16) -> set[tuple[int, tuple[int, ...]]]:
    return {(each.threads, each.cpus) for each in candidates(topology, streams, max_batch)}


def test_four_equal_cores_are_tried_whole_and_without_the_one_of_interrupts():
    found = settings(Topology(tuple(map(core, range(4)))))
    assert found == {
        (1, (0, 1, 2, 3)),
        (2, (0, 1, 2, 3)),
        (4, (0, 1, 2, 3)),
        (1, (1, 2, 3)),
        (2, (1, 2, 3)),
        (3, (1, 2, 3)),
    }


def test_clusters_are_not_mixed():
    small, big = [core(cpu, 400) for cpu in range(4)], [core(cpu, 1024) for cpu in range(4, 8)]
    found = settings(Topology((*small, *big)))
    assert {cpus for _, cpus in found} == {(4, 5, 6, 7), (0, 1, 2, 3), (1, 2, 3)}


def test_second_threads_of_a_core_are_left_out():
    found = settings(Topology((core(0, 0, 2), core(1, 0, 3), core(2, 0, 0), core(3, 0, 1))))
    assert {cpus for _, cpus in found} == {(0, 1), (1,)}


def test_threads_that_cannot_spin_against_each_other_are_not_tried_spinning():
    for setting in candidates(Topology(tuple(map(core, range(4)))), 1, 16):
        assert setting.threads > 1 or not setting.allow_spinning


def test_batches_matter_from_two_streams_on():
    topology = Topology((core(0),))
    assert {each.max_batch for each in candidates(topology, 1, 16)} == {16}
    assert {each.max_batch for each in candidates(topology, 2, 16)} == {1, 16}


def test_the_default_is_what_is_in_force():
    topology = Topology(tuple(map(core, range(4))))
    assert default_setting(topology, 2, (3,), 8, allow_spinning=True) == Setting(
        threads=2, cpus=(3,), max_batch=8, allow_spinning=True
    )
    assert default_setting(topology, 1, (), 16, allow_spinning=False).cpus == (0, 1, 2, 3)


def test_a_setting_is_written_as_a_configuration_file_has_it():
    setting = Setting(threads=2, cpus=(2, 3), allow_spinning=True, max_batch=4)
    assert setting.sentence() == (
        "engine.threads = 2, worker.cpus = [2, 3], engine.allow_spinning = true, scheduler.max_batch = 4"
    )


def test_the_cpu_is_named_only_where_another_provider_would_be_used_otherwise() -> None:
    setting = Setting(threads=2, cpus=(0, 1))
    assert setting.sentence().startswith("engine.threads = 2, ")
    assert setting.sentence(instead_of="qnn").startswith('engine.provider = "cpu", engine.threads = 2, ')
