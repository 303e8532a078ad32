"""Two benches side by side: verdicts, and when there is none."""

from __future__ import annotations

import msgspec

from edge_asr.bench.compare import Comparison, FigureChange, compare_documents
from edge_asr.bench.document import Figure, Result
from tests.bench.documents import THROTTLED, disturbed
from tests.bench.measurements import CLIPS, bench_of, listening, repeated


def compared(before: Result, after: Result) -> Comparison:
    return compare_documents(bench_of(before), bench_of(after))


def figures(comparison: Comparison) -> dict[str, FigureChange]:
    return {figure.name: figure for change in comparison.changes for figure in change.figures}


def verdicts(comparison: Comparison) -> dict[str, str]:
    return {name: figure.verdict for name, figure in figures(comparison).items()}


def all_disturbed(result: Result) -> Result:
    runs = tuple(msgspec.structs.replace(run, violations=(THROTTLED,)) for run in result.runs)
    return msgspec.structs.replace(result, runs=runs)


def test_a_bench_against_itself_finds_no_difference() -> None:
    comparison = compared(repeated(0.1), repeated(0.1))
    assert set(verdicts(comparison).values()) == {"no_difference_found"}
    assert (comparison.has_regression, comparison.is_valid) == (False, True)


def test_the_same_measured_again_finds_no_difference() -> None:
    for seed in range(1, 6):
        for measure in (repeated, listening):
            assert not compared(measure(0.1), measure(0.1, seed=seed)).has_regression


def test_a_loss_is_found() -> None:
    comparison = compared(repeated(0.1), repeated(0.13, seed=1, threads=2, cpus=(0,)))
    assert verdicts(comparison)["rtf_wall"] == "worse"
    assert comparison.has_regression
    change = figures(comparison)["rtf_wall"].change
    assert change is not None
    assert change.ratio is not None
    assert 1.25 < change.ratio < 1.35


def test_a_gain_is_found() -> None:
    assert verdicts(compared(repeated(0.13), repeated(0.1, seed=1)))["rtf_cpu"] == "better"


def test_a_change_too_small_to_matter_is_no_difference_however_certain() -> None:
    before, after = (repeated(rtf, repetition_noise=0.0001) for rtf in (0.1, 0.102))
    figure = figures(compared(before, after))["rtf_wall"]
    assert (figure.verdict, figure.note) == ("no_difference_found", "a change under 3%")
    assert figure.change is not None
    assert figure.change.verdict == "higher"


def test_what_varies_from_process_to_process_widens_the_interval() -> None:
    before = repeated(0.1, seed=1, repetition_noise=0.2)
    after = repeated(0.1, seed=2, repetition_noise=0.2)
    change = figures(compared(before, after))["rtf_wall"].change
    assert change is not None
    assert change.blocks == 5  # repetitions, not the twenty utterances
    assert verdicts(compared(before, after))["rtf_wall"] == "no_difference_found"


def test_latency_memory_and_cpu_at_live_pace() -> None:
    found = verdicts(compared(listening(1.0), listening(1.3, seed=1)))
    assert found == {
        "rtf_cpu_live": "worse",
        "chunk_latency_p90": "worse",
        "chunk_latency_p99": "worse",
        "flush_latency_p50": "worse",
        "memory_peak": "no_difference_found",
    }


def test_a_sample_too_small_is_undecided_and_says_what_it_takes() -> None:
    figure = figures(compared(listening(1.0, chunks=20), listening(2.0, chunks=20)))["chunk_latency_p99"]
    assert (figure.verdict, figure.note) == ("undecided", "n too small (100, 662 needed)")


def test_more_errors_are_worse_and_repetitions_do_not_multiply_them() -> None:
    figure = figures(compared(repeated(0.1, errors=1), repeated(0.1, errors=2)))["wer"]
    assert figure.verdict == "worse"
    assert figure.change is not None
    assert (figure.change.blocks, figure.change.difference) == (4, 0.1)


def test_disturbed_runs_are_shown_without_a_verdict() -> None:
    comparison = compared(repeated(0.1), all_disturbed(repeated(0.2)))
    assert set(verdicts(comparison).values()) == {"invalid"}
    assert (comparison.has_regression, comparison.is_valid) == (False, False)
    assert figures(comparison)["rtf_wall"].change is not None
    assert comparison.changes[0].notes == (
        "5 of 5 repetitions disturbed: no verdict, 3 undisturbed ones are needed",
        f"after: {THROTTLED.message} (in every run)",
    )


def test_a_single_disturbed_repetition_is_left_out_on_both_sides() -> None:
    comparison = compared(repeated(0.1), disturbed(repeated(0.2)))
    assert verdicts(comparison)["rtf_wall"] == "worse"
    assert comparison.changes[0].notes[0] == "1 of 5 repetitions left out"


def test_only_shared_recordings_are_compared_and_whole_runs_are_not() -> None:
    other = bench_of(repeated(0.2), listening(2.0), clips=(*CLIPS[:2], "five"))
    found = verdicts(compare_documents(bench_of(repeated(0.1), listening(1.0)), other))
    assert found["rtf_wall"] == "worse"
    assert "rtf_cpu_live" not in found


def through_a_daemon(result: Result, *shown: str) -> Result:
    """The same measured from outside, where only these figures show."""
    figures = {name: Figure(value=1.0, unit="ratio") for name in shown}
    outside = msgspec.structs.replace(result.configuration, door="daemon")
    return msgspec.structs.replace(result, configuration=outside, figures=figures)


def test_of_the_library_and_a_daemon_is_compared_what_both_show() -> None:
    daemon = through_a_daemon(listening(2.0), "rtf_cpu_live", "flush_latency_p50", "memory_peak")
    comparison = compared(listening(1.0), daemon)
    assert verdicts(comparison) == {
        "rtf_cpu_live": "worse",
        "flush_latency_p50": "worse",
        "memory_peak": "no_difference_found",
    }
    (note,) = comparison.changes[0].notes
    assert note.endswith("does not show it from outside: chunk_latency_p90, chunk_latency_p99")


def test_a_daemon_elsewhere_whose_memory_nobody_saw_takes_none_less() -> None:
    daemon = through_a_daemon(listening(1.0), "flush_latency_p50")
    assert set(verdicts(compared(listening(1.0), daemon))) == {"flush_latency_p50"}


def test_why_times_at_live_pace_are_missing_is_said() -> None:
    comparison = compare_documents(bench_of(listening(1.0)), bench_of(listening(1.0), clips=CLIPS[:2]))
    assert comparison.changes[0].notes == (
        "times at live pace are left out: both benches must hear the same recordings (--audio)",
    )


def test_what_could_not_be_measured_is_said_and_not_valid() -> None:
    broken = Result(configuration=repeated(0.1).configuration, error="the child died")
    comparison = compared(repeated(0.1), broken)
    assert comparison.changes[0].notes == ("not measured after: the child died",)
    assert not comparison.is_valid


def test_configurations_without_a_partner_are_named() -> None:
    comparison = compare_documents(
        bench_of(repeated(0.1), repeated(0.1, streams=4)), bench_of(repeated(0.1), listening(1))
    )
    assert [configuration.streams for configuration in comparison.only_before] == [4]
    assert [configuration.mode for configuration in comparison.only_after] == ["paced"]
