"""Measurements in processes of their own: what comes back, and what is said of those that do not come back."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from edge_asr.bench.child import Task
from edge_asr.bench.document import Configuration, Result, Run, Violation
from edge_asr.bench.gate import LONG_GATES, Surroundings
from edge_asr.bench.run import (
    PASSING,
    Bench,
    SoakInterrupted,
    interleaved,
    measure_once,
    run_bench,
    time_allowed_s,
)
from edge_asr.bench.selftest import Extent, SelfTest, self_test
from edge_asr.errors import EdgeAsrError, EngineFailed, MachineError, ModelDamaged
from tests.bench import loaders
from tests.bench.tasks import a_task, on_a_quiet_machine, real_task, silent_machine, throughput_run

SHORT = Extent(
    LONG_GATES,
    throughput_audio_s=1.0,
    throughput_most_s=10.0,
    paced_s=0.5,
    warm_up_s=1.0,
    looks_for_remedies=True,
)


# Order


def test_each_repetition_holds_every_configuration_once():
    turns = interleaved(3, 4, seed=0)
    assert [turn.order for turn in turns] == list(range(12))
    for repetition in range(4):
        places = [turn.configuration for turn in turns if turn.repetition == repetition]
        assert sorted(places) == [0, 1, 2]
    assert [turn.repetition for turn in turns] == sorted(turn.repetition for turn in turns)


def test_the_order_is_another_each_time_and_can_be_repeated():
    turns = interleaved(5, 20, seed=7)
    orders = [tuple(turn.configuration for turn in turns[first : first + 5]) for first in range(0, 100, 5)]
    assert len(set(orders)) > 10
    assert interleaved(5, 20, seed=7) == turns != interleaved(5, 20, seed=8)


def test_no_configuration_is_always_first():
    first = Counter(interleaved(2, 2, seed=seed)[0].configuration for seed in range(100))
    assert min(first.values()) > 25


# What comes back


def test_a_run_that_hears_hours_of_recordings_may_take_hours():
    short = a_task(mode="throughput", least_audio_s=5.0)
    long = a_task(mode="throughput", least_audio_s=5.0, clips_s=7200.0)
    assert time_allowed_s(short) < 1000
    assert time_allowed_s(long) > 10 * 7200
    assert time_allowed_s(a_task(mode="throughput", clips_s=7200.0, streams=4)) > 40 * 7200
    assert time_allowed_s(a_task(mode="paced", clips_s=7200.0)) == time_allowed_s(a_task(mode="paced"))


def test_a_throughput_run_brings_its_figures(tmp_path):
    run = measure_once(real_task(tmp_path, loaders.load, mode="throughput"), root=silent_machine(tmp_path))
    assert (run.audio_s, run.provider, run.warm_up_s) == (1.0, "cpu", 1.0)
    assert [(each.clip, each.text, each.errors) for each in run.utterances] == [("go.wav", "go", 0)]
    assert run.stages is not None
    assert run.stages.total_s == pytest.approx(run.wall_s)
    assert run.peak_bytes >= run.start_bytes > 0
    assert run.first_decode_ms > 1000 * run.load_s


def test_a_paced_run_brings_its_chunks(tmp_path):
    run = measure_once(real_task(tmp_path, loaders.load), root=silent_machine(tmp_path))
    assert run.chunks is not None
    assert (run.chunks.chunk_ms, run.chunks.step_count) == (100.0, 10)
    assert run.utterances[0].flush_ms is not None
    assert run.conditions["feeder_jitter_ms"] == run.chunks.longest_jitter_ms


@pytest.mark.parametrize("mode", ["throughput", "paced"])
def test_a_second_pass_writes_the_finals_in_either_mode(tmp_path, mode):
    task = real_task(tmp_path, loaders.load_with_second_pass, mode=mode)
    run = measure_once(task, root=silent_machine(tmp_path))
    assert {(heard.text, heard.errors, heard.second_passes_skipped) for heard in run.utterances} == {("go on", 1, 0)}


def test_silence_is_listened_to_before(tmp_path):
    run = measure_once(real_task(tmp_path, loaders.load, idle_s=0.5), root=silent_machine(tmp_path))
    assert run.idle_cpu_share is not None
    assert run.chunks is not None
    assert run.chunks.step_count == 10


def test_repetitions_are_numbered_and_the_first_one_is_cold(tmp_path):
    tasks = [real_task(tmp_path, loaders.load, mode="throughput")]
    (result,) = run_bench(Bench(tasks, repetitions=2, seed=0), lambda *_: None).results
    assert [(run.repetition, run.is_cold_load) for run in result.runs] == [(0, True), (1, False)]
    assert {"load", "load_cold", "rtf_wall", "wer"} <= set(result.figures)


def test_what_cannot_be_measured_does_not_keep_the_rest_from_it(tmp_path):
    broken = real_task(tmp_path, loaders.refuse, mode="throughput", threads=2)
    tasks = [broken, real_task(tmp_path, loaders.load, mode="throughput")]
    asked: list[int] = []
    outcome = run_bench(Bench(tasks, repetitions=2, seed=0), lambda _n, _of, what: asked.append(what.threads))
    failed, measured = outcome.results
    assert (failed.error_code, failed.runs) == ("model_damaged", ())
    assert "it is no model" in failed.error
    assert len(measured.runs) == 2
    assert asked.count(2) == 1


# What is disturbed


def measuring(*disturbances: str) -> Callable[[Task, int], Run]:
    """Each run is disturbed by the next of these; "" disturbs nothing."""
    coming = iter(disturbances)

    def measure(task: Task, _malloc_arenas: int) -> Run:
        code = next(coming)
        return throughput_run(violations=(Violation(code, f"it was {code}"),) if code else ())

    return measure


def result_of(measure: Callable[[Task, int], Run], *, second_tries: int, repetitions: int = 1) -> Result:
    bench = Bench([a_task(mode="throughput")], repetitions, seed=0, second_tries=second_tries)
    (result,) = run_bench(bench, lambda *_: None, measure).results
    return result


def codes_of(runs: Iterable[Run]) -> list[list[str]]:
    return [[violation.code for violation in run.violations] for run in runs]


@pytest.mark.parametrize("code", sorted(PASSING))
def test_a_run_that_the_neighbours_disturbed_is_set_aside_and_measured_again(code):
    result = result_of(measuring(code, ""), second_tries=1)
    assert (codes_of(result.set_aside), codes_of(result.runs), result.is_valid) == ([[code]], [[]], True)


def test_it_is_said_at_once_which_run_is_measured_again():
    said: list[tuple[str, list[list[str]]]] = []
    bench = Bench([a_task(mode="throughput")], repetitions=1, seed=0, second_tries=1)

    def hear(configuration: Configuration, run: Run) -> None:
        said.append((configuration.mode, codes_of([run])))

    run_bench(bench, lambda *_: None, measuring("swapped_in", ""), hear)
    assert said == [("throughput", [["swapped_in"]])]


def test_neighbours_that_never_rest_leave_it_invalid():
    result = result_of(measuring("foreign_load", "foreign_load", "foreign_load"), second_tries=2)
    assert codes_of(result.set_aside) == [["foreign_load"], ["foreign_load"]]
    assert (codes_of(result.runs), result.is_valid) == ([["foreign_load"]], False)


def test_second_tries_are_counted_over_all_repetitions():
    measure = measuring("foreign_load", "", "foreign_load", "foreign_load", "")
    result = result_of(measure, repetitions=3, second_tries=2)
    assert (len(result.set_aside), codes_of(result.runs)) == (2, [[], ["foreign_load"], []])


@pytest.mark.parametrize("code", ["throttled", "under_voltage", "provider_fell_back", "child_died"])
def test_what_the_board_itself_did_stays(code):
    result = result_of(measuring(code), second_tries=1)
    assert (codes_of(result.runs), result.set_aside) == ([[code]], ())


def test_what_was_set_aside_is_in_no_figure():
    runs = iter((throughput_run(0.9, violations=(Violation("foreign_load", "busy"),)), throughput_run(0.1)))
    result = result_of(lambda _task, _arenas: next(runs), second_tries=1)
    assert result.figures["rtf_wall"].value == pytest.approx(0.1)


# What does not come back


def error_of(task: Task, folder: Path, **limits: Any) -> EdgeAsrError:
    with pytest.raises(EdgeAsrError) as caught:
        measure_once(task, root=silent_machine(folder), **limits)
    return caught.value


def test_a_model_that_is_refused_says_so(tmp_path):
    error = error_of(real_task(tmp_path, loaders.refuse), tmp_path)
    assert isinstance(error, ModelDamaged)
    assert "it is no model" in str(error)


def test_an_engine_that_ends_the_process_while_loading_is_to_blame(tmp_path):
    assert isinstance(error_of(real_task(tmp_path, loaders.end_while_loading), tmp_path), ModelDamaged)


def test_a_fault_of_the_program_is_called_one(tmp_path):
    error = error_of(real_task(tmp_path, loaders.raise_while_loading), tmp_path)
    assert (error.code, isinstance(error, ModelDamaged)) == ("internal", False)
    assert "ZeroDivisionError: a fault of the program" in str(error)


def test_a_process_that_is_killed_while_measuring_is_missed(tmp_path):
    error = error_of(real_task(tmp_path, loaders.load_dying), tmp_path)
    assert isinstance(error, MachineError)
    assert "measuring model 'scripted' was killed by the system" in str(error)


def test_a_process_that_hangs_while_measuring_is_ended(tmp_path):
    error = error_of(real_task(tmp_path, loaders.load_hanging), tmp_path, run_timeout_s=1.0)
    assert isinstance(error, MachineError)
    assert "measuring 'scripted' took longer than 1 s" in str(error)


def test_a_process_that_loads_for_ever_is_ended(tmp_path):
    error = error_of(real_task(tmp_path, loaders.load_for_ever), tmp_path, load_timeout_s=1.0)
    assert "took longer than 1 s" in str(error)


def test_an_engine_that_fails_while_measuring_says_so(tmp_path):
    error = error_of(real_task(tmp_path, loaders.load_failing, mode="throughput"), tmp_path)
    assert isinstance(error, EngineFailed)
    assert "the arena is full" in str(error)


def test_a_recording_that_is_gone_is_named(tmp_path):
    task = real_task(tmp_path, loaders.load)
    (tmp_path / "go.wav").unlink()
    assert error_of(task, tmp_path).code == "audio_not_found"


@pytest.fixture
def interruptible():
    """Ctrl-C raises, also where the suite was started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_soak_keeps_what_was_measured(tmp_path):
    task = real_task(tmp_path, loaders.load_interrupted, seconds=3600.0)
    with pytest.raises(KeyboardInterrupt) as caught:
        measure_once(task, root=silent_machine(tmp_path))
    assert isinstance(caught.value, SoakInterrupted)
    assert [each.text for each in caught.value.run.utterances] == ["go"]
    assert "interrupted before its time" in caught.value.run.notes


# Verdicts on what really happened


def verdict(task: Task, folder: Path, extent: Extent = SHORT) -> SelfTest:
    here = Surroundings(chunk_ms=100.0, memory_bytes=64 << 30)
    return self_test(task, extent, here, measure=on_a_quiet_machine(folder))


def failed_gates(outcome: SelfTest) -> set[str]:
    return {gate.figure for gate in outcome.judgement.outcomes if not gate.is_met}


def test_an_engine_of_half_the_speed_of_speech_fails(tmp_path):
    outcome = verdict(real_task(tmp_path, loaders.load_slow), tmp_path)
    assert outcome.verdict == "FAIL"
    assert {"rtf_wall", "deadline_miss"} <= failed_gates(outcome)


def test_a_leaking_engine_fails(tmp_path):
    task = real_task(tmp_path, loaders.load_leaking, sample_every_s=0.02)
    outcome = verdict(task, tmp_path)
    assert outcome.verdict == "FAIL"
    assert "memory_growth" in failed_gates(outcome)


def test_a_provider_that_fell_back_is_invalid(tmp_path):
    outcome = verdict(real_task(tmp_path, loaders.load_fallen_back, provider="cuda"), tmp_path)
    assert outcome.verdict == "INVALID"
    (violation,) = outcome.judgement.violations
    assert violation.code == "provider_fell_back"
    assert "'cpu' ran instead of 'cuda'" in violation.message


def test_a_board_that_is_throttled_meanwhile_is_invalid(tmp_path):
    root = tmp_path / "board"
    word = root / "sys/devices/platform/soc/soc:firmware/get_throttled"
    word.parent.mkdir(parents=True)
    word.write_text("0")
    (root / "proc").symlink_to("/proc")
    (tmp_path / "firmware-file").write_text(str(word))
    run = measure_once(real_task(tmp_path, loaders.load_throttling), root=root)
    assert "throttled" in {violation.code for violation in run.violations}
    assert not run.is_valid


def test_a_bit_that_was_set_before_disturbs_nothing(tmp_path):
    root = silent_machine(tmp_path)
    word = root / "sys/devices/platform/soc/soc:firmware/get_throttled"
    word.parent.mkdir(parents=True)
    word.write_text("40000")
    run = measure_once(real_task(tmp_path, loaders.load, mode="throughput"), root=root)
    assert run.violations == ()
