"""As fast as possible, on a clock that moves by hand."""

import pytest

from edge_asr.bench.rig import Notebook
from edge_asr.bench.throughput import measure_throughput, stages_of, warm_up
from edge_asr.errors import EngineFailed
from tests.bench.rigs import Costs, bench
from tests.bench.rigs import clip as recording


def test_the_clock_runs_while_somebody_works():
    made = bench(costs=Costs(decode=10))
    outcome = measure_throughput(made.rig, [recording(1.0)], least_audio_s=1.0, streams=1)
    (utterance,) = outcome.utterances.items()
    assert utterance.wall_s == pytest.approx(0.1)
    assert utterance.cpu_s == pytest.approx(0.1)
    assert outcome.total_ns == 100_000_000


def test_whole_passes_are_made_until_there_is_enough():
    made = bench()
    clips = [recording(1.0, name="a"), recording(0.5, name="b")]
    outcome = measure_throughput(made.rig, clips, least_audio_s=2.0, streams=1)
    assert [each.clip for each in outcome.utterances.items()] == ["a", "b", "a", "b"]
    assert outcome.audio_s == 3.0


def test_a_slow_recogniser_is_stopped_between_recordings():
    made = bench(costs=Costs(decode=200))
    clips = [recording(1.0, name=name) for name in "abcd"]
    outcome = measure_throughput(made.rig, clips, least_audio_s=4.0, streams=1, most_s=3.0)
    assert [each.clip for each in outcome.utterances.items()] == ["a", "b"]


def test_the_stages_add_up():
    costs = Costs(feed=1, accept=2, decode=10, hypothesis=3)
    made = bench(costs=costs)
    outcome = measure_throughput(made.rig, [recording(1.0)], least_audio_s=1.0, streams=1)
    stages = stages_of(made.rig, outcome)
    assert stages.conversion_s == pytest.approx(10 * 0.001)
    assert stages.features_s == pytest.approx(10 * 0.002)
    assert stages.model_s == pytest.approx(10 * 0.010)
    assert stages.text_s == pytest.approx(11 * 0.003)  # after each step, and once more at the end
    assert stages.vad_s == 0
    parts = stages.conversion_s + stages.vad_s + stages.features_s + stages.model_s + stages.text_s
    assert parts == pytest.approx(stages.total_s)
    assert stages.total_s == pytest.approx(outcome.total_ns / 1e9)


def test_streams_are_decoded_side_by_side():
    made = bench(costs=Costs(decode=10))
    clips = [recording(1.0, name="a"), recording(1.0, name="b")]
    outcome = measure_throughput(made.rig, clips, least_audio_s=4.0, streams=2)
    assert set(made.engine.batches) == {2}
    assert [(each.stream, each.clip) for each in outcome.utterances.items()] == [(0, "a"), (1, "b"), (0, "b"), (1, "a")]
    # Ten steps for two seconds of audio: each second is charged with half of them.
    assert {round(each.wall_s, 6) for each in outcome.utterances.items()} == {0.05}


def test_a_long_recording_is_charged_for_its_length():
    made = bench(costs=Costs(decode=10), max_batch=1)
    clips = [recording(0.5, name="short"), recording(1.5, name="long")]
    outcome = measure_throughput(made.rig, clips, least_audio_s=1.0, streams=2)
    walls = {each.clip: each.wall_s for each in outcome.utterances.items()[:2]}
    assert walls == pytest.approx({"short": 0.05, "long": 0.15})


def test_what_was_said_is_scored():
    made = bench(("go", 0.1), ("slowly", 0.3))
    outcome = measure_throughput(made.rig, [recording(0.5, "go forward slowly")], least_audio_s=0.5, streams=1)
    (utterance,) = outcome.utterances.items()
    assert (utterance.text, utterance.errors, utterance.units) == ("go slowly", 1, 3)


def test_an_engine_that_fails_ends_the_measuring():
    def fail(_streams):
        raise RuntimeError("no more")

    made = bench(on_decode=fail)
    with pytest.raises(EngineFailed, match="no more"):
        measure_throughput(made.rig, [recording(1.0)], least_audio_s=1.0, streams=1)


def test_a_day_of_audio_keeps_a_sample_of_its_recordings():
    made = bench(notebook=Notebook(most_utterances=3))
    outcome = measure_throughput(made.rig, [recording(0.5)], least_audio_s=50.0, streams=1)
    assert (outcome.utterances.count, len(outcome.utterances.items()), outcome.audio_s) == (100, 3, 50.0)


# Warm-up


def test_it_is_warm_when_enough_was_heard_and_steps_are_equally_long():
    made = bench(costs=Costs(decode=10))
    assert warm_up(made.rig, [recording(1.0)], least_s=3.0, most_s=60.0) == 3.0


def test_it_goes_on_while_steps_differ():
    lengths_ms = iter([10.0, 20.0] * 15 + [15.0] * 100)
    made = bench(on_decode=lambda _streams: made.clock.advance_ms(next(lengths_ms)))
    assert warm_up(made.rig, [recording(1.0)], least_s=1.0, most_s=60.0) == 4.0


def test_it_gives_up_waiting_for_steadiness():
    lengths_ms = iter([10.0, 20.0] * 1000)
    made = bench(on_decode=lambda _streams: made.clock.advance_ms(next(lengths_ms)))
    clips = [recording(1.0), recording(1.0)]
    assert warm_up(made.rig, clips, least_s=1.0, most_s=5.0) == 5.0


def test_a_second_pass_is_a_stage_of_its_own_and_writes_the_finals():
    made = bench(("go", 0.5), costs=Costs(decode=10), second_pass_ms=70)
    outcome = measure_throughput(made.rig, [recording(1.0)], least_audio_s=1.0, streams=1)
    stages = stages_of(made.rig, outcome)
    assert (stages.second_pass_s, stages.model_s) == pytest.approx((0.07, 0.1))
    assert stages.text_s == pytest.approx(0)
    assert [each.text for each in outcome.utterances.items()] == ["better"]
