"""From runs to figures."""

from __future__ import annotations

import pytest

from edge_asr.bench.document import Chunks, Figure, Run, Stages, Utterance
from edge_asr.bench.figures import blocks_of, error_blocks, figures_of
from tests.bench.documents import configuration

THROUGHPUT = configuration()
PACED = configuration(mode="paced")


def utterance(clip: str = "a", **changes) -> Utterance:
    return Utterance(**{"clip": clip, "audio_s": 10.0, **changes})


def run(*utterances: Utterance, repetition: int = 0, **changes) -> Run:
    audio_s = sum(each.audio_s for each in utterances)
    return Run(**{"repetition": repetition, "order": 0, "utterances": utterances, "audio_s": audio_s, **changes})


def throughput(*runs: Run) -> dict[str, Figure]:
    return figures_of(THROUGHPUT, runs, "wer")


def paced(*runs: Run) -> dict[str, Figure]:
    return figures_of(PACED, runs, "wer")


def heard(*latency_ms: float, compute_ms: float = 5.0, **changes) -> Run:
    chunks = Chunks(
        **{"chunk_ms": 100.0, "latency_ms": latency_ms, "compute_ms": (compute_ms,) * len(latency_ms), **changes}
    )
    return run(utterance(), chunks=chunks)


def test_no_runs_give_no_figures():
    assert throughput() == {}


# Tiers


def test_recordings_of_which_a_second_pass_was_skipped_are_counted():
    runs = [run(utterance(second_passes_skipped=2), utterance("b")), run(utterance(), utterance("b"), repetition=1)]
    skipped = figures_of(configuration(second_pass="better"), runs, "wer")["second_pass_skipped"]
    assert (skipped.value, skipped.n, skipped.note) == (0.25, 4, "1 of 4 recordings")


def test_without_a_second_pass_none_is_skipped():
    assert "second_pass_skipped" not in throughput(run(utterance()))


# Speed


def test_rtf_is_the_sum_of_times_over_the_sum_of_lengths():
    figures = throughput(run(utterance(audio_s=1.0, wall_s=1.0), utterance("b", audio_s=9.0, wall_s=1.0)))
    assert figures["rtf_wall"].value == pytest.approx(0.2)


def test_repetitions_are_pooled_with_an_interval():
    runs = [run(utterance(wall_s=1.0 + number / 10), repetition=number) for number in range(5)]
    rtf = throughput(*runs)["rtf_wall"]
    assert rtf.value == pytest.approx(0.12)
    assert rtf.n == 5
    assert rtf.low is not None
    assert rtf.high is not None
    assert rtf.low < 0.12 < rtf.high


def test_efficiency_is_the_number_of_busy_cores():
    assert throughput(run(utterance(wall_s=1.0, cpu_s=1.8)))["parallel_efficiency"].value == pytest.approx(1.8)


def test_the_model_alone_is_features_and_model():
    stages = Stages(conversion_s=0.1, features_s=0.3, model_s=1.2, text_s=0.2, total_s=1.8)
    assert throughput(run(utterance(wall_s=1.8), stages=stages))["rtf_model"].value == pytest.approx(0.15)


def test_live_cost_is_processor_time_per_audio():
    assert paced(run(utterance(), cpu_s=1.5))["rtf_cpu_live"].value == pytest.approx(0.15)


# Accuracy


def test_errors_are_pooled():
    figures = throughput(run(utterance(errors=1, units=10), utterance("b", errors=3, units=30)))
    assert figures["wer"].value == pytest.approx(0.1)
    assert figures["wer"].n == 40


def test_a_recording_counts_once_however_often_it_was_decoded():
    once = run(utterance(errors=1, units=10), utterance("b", errors=0, units=10))
    often = [run(*once.utterances, *once.utterances, repetition=number) for number in range(3)]
    assert len(error_blocks(often)) == 2
    assert throughput(*often)["wer"].value == throughput(once)["wer"].value == pytest.approx(0.05)


def test_without_references_there_is_no_error_rate():
    figure = throughput(run(utterance()))["wer"]
    assert (figure.value, figure.note) == (None, "the recordings have no reference text")


def test_characters_have_a_rate_of_their_own():
    figure = figures_of(THROUGHPUT, [run(utterance(errors=1, units=4))], "cer")["cer"]
    assert (figure.value, figure.note) == (0.25, "4 characters of reference")


# Deadlines


def test_missed_deadlines_are_those_beyond_the_chunk():
    figure = paced(heard(50.0, 100.0, 100.1, 300.0))["deadline_miss"]
    assert (figure.value, figure.n, figure.note) == (0.5, 4, "2 of 4")


def test_counts_are_exact_where_the_series_is_a_sample():
    figures = paced(heard(50.0, steps=1000, missed=20, latency_max_ms=250.0, compute_max_ms=90.0, jitter_max_ms=3.0))
    assert figures["deadline_miss"].value == pytest.approx(0.02)
    assert figures["chunk_latency_max"].value == 250.0
    assert figures["chunk_compute_max"].value == 90.0


def test_a_model_without_chunks_misses_no_deadline():
    figure = paced(heard(5000.0, chunk_ms=0.0))["deadline_miss"]
    assert figure.value is None
    assert "does not stream" in figure.note


def test_a_percentile_of_few_steps_is_withheld():
    figure = paced(heard(*[10.0] * 63))["chunk_latency_p90"]
    assert (figure.value, figure.note) == (None, "n too small (63, 64 needed)")


def test_percentiles_pool_the_runs():
    figures = paced(heard(*map(float, range(1, 51))), heard(*map(float, range(51, 101))))
    assert figures["chunk_latency_p50"].value == 50.0
    assert figures["chunk_latency_p90"].value == 90.0
    assert figures["chunk_latency_max"].value == 100.0


# Latencies


def test_the_longest_flush_needs_no_large_sample():
    figures = paced(run(utterance(flush_ms=20.0), utterance("b", flush_ms=35.0), utterance("c")))
    assert figures["flush_latency_max"].value == 35.0
    assert figures["flush_latency_max"].n == 2
    assert figures["flush_latency_p50"].value is None


def test_stability_is_changed_words_per_shown_word():
    figure = paced(run(utterance(changed_words=2, emitted_words=10), utterance(emitted_words=10)))["stability"]
    assert (figure.value, figure.n) == (0.1, 20)


def test_word_delays_are_pooled_over_utterances():
    figures = paced(run(utterance(emission_ms=(100.0,) * 6), utterance(emission_ms=(200.0,) * 6)))
    assert figures["emission_delay_p50"].value == 100.0


def test_without_word_times_there_are_no_word_delays():
    assert "column `words`" in paced(run(utterance()))["emission_delay_p50"].note


# Resources


def test_peak_memory_is_the_highest_of_all_runs():
    assert throughput(run(utterance(), peak_bytes=5), run(utterance(), peak_bytes=7))["memory_peak"].value == 7


def test_cold_and_warm_loads_stand_apart():
    runs = [
        run(utterance(), load_s=4.0, is_cold_load=True),
        *(run(utterance(), load_s=value) for value in (1.0, 1.2, 1.1)),
    ]
    figures = throughput(*runs)
    assert (figures["load_cold"].value, figures["load_cold"].n) == (4.0, 1)
    assert (figures["load"].value, figures["load"].n) == (1.1, 3)


def test_blocks_hold_one_ratio_for_each_utterance():
    blocks = blocks_of([run(utterance(wall_s=2.0), repetition=3)], lambda each: each.wall_s)
    assert [(block.repetition, block.utterance, block.numerator, block.denominator) for block in blocks] == [
        (3, "a", 2.0, 10.0)
    ]
