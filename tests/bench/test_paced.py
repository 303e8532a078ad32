"""At the pace of speech, on a clock that moves by hand: every delay is exactly what was put in."""

import pytest

from edge_asr.bench.document import Utterance
from edge_asr.bench.paced import PATIENCE_S, PAUSE_S, Paced, chunks_of, measure_paced
from edge_asr.bench.rig import Notebook
from tests.bench.rigs import Bench, Costs, bench
from tests.bench.rigs import clip as recording


def measured(made: Bench, *clips, streams: int = 1, seconds: float = 0.1, **how) -> Paced:
    return measure_paced(made.rig, clips, streams=streams, seconds=seconds, sleep=made.sleep, **how)


def only(outcome: Paced) -> Utterance:
    (utterance,) = outcome.utterances.items()
    return utterance


# Chunks


def test_a_chunk_that_is_decoded_at_once_is_as_late_as_it_takes():
    made = bench(costs=Costs(decode=30))
    chunks = chunks_of(made.rig, measured(made, recording(1.0)))
    assert chunks.latency_ms == chunks.compute_ms == (30.0,) * 10
    assert (chunks.chunk_ms, chunks.step_count, chunks.missed_count) == (100.0, 10, 0)


def test_a_chunk_waits_for_the_piece_that_completes_it():
    made = bench(costs=Costs(decode=30), chunk_ms=320)
    chunks = chunks_of(made.rig, measured(made, recording(1.0)))
    # 320 ms are there with the piece that ends at 400, 640 ms with the one at 700, and 960 ms at 1000.
    assert chunks.latency_ms == (30.0, 30.0, 30.0)
    assert chunks.at_s == (0.48, 0.78, 1.08)  # listeners begin 50 ms after the call


def test_a_recogniser_that_is_too_slow_falls_behind_by_its_excess():
    made = bench(costs=Costs(decode=120))
    chunks = chunks_of(made.rig, measured(made, recording(0.5)))
    assert chunks.latency_ms == (120.0, 140.0, 160.0, 180.0, 200.0)
    assert chunks.missed_count == 5


def test_only_steps_beyond_the_chunk_are_missed():
    made = bench(costs=Costs(decode=100))
    assert chunks_of(made.rig, measured(made, recording(0.5))).missed_count == 0


def test_the_backlog_is_what_waits():
    made = bench(costs=Costs(decode=300))
    # After the first step, at 400 ms, the pieces of 200, 300 and 400 ms wait; after the second, at 700, five.
    assert measured(made, recording(0.7)).backlog_max_s == pytest.approx(0.5)


def test_nothing_waits_longer_than_a_piece_where_the_recogniser_keeps_up():
    made = bench(costs=Costs(decode=20))
    assert measured(made, recording(2.0)).backlog_max_s == pytest.approx(0.1)


def test_a_hopeless_run_is_cut_short():
    made = bench(costs=Costs(decode=2000))
    outcome = measured(made, recording(60.0))
    assert outcome.is_hopeless
    assert outcome.backlog_max_s == pytest.approx(20, abs=2)
    assert outcome.utterances.count == 0
    assert len(made.rig.loop) == 0


def test_a_short_last_piece_is_released_when_it_ends():
    made = bench(costs=Costs(decode=10), chunk_ms=50, piece_ms=100)
    chunks = chunks_of(made.rig, measured(made, recording(0.25)))
    assert chunks.latency_ms == (10.0, 20.0, 10.0, 20.0, 10.0)


def test_silence_after_a_short_last_piece_is_released_in_whole_pieces():
    made = bench(("one", 0.2), costs=Costs(decode=10), chunk_ms=50, piece_ms=100, silence_ms=250)
    chunks = chunks_of(made.rig, measured(made, recording(0.25, end_s=0.2), recording(0.25, end_s=0.2), seconds=0.8))
    second = chunks.latency_ms[5:]
    # Pieces of the second recording end at 100, 200, 250, 350 and 450 ms.
    assert second == (10.0, 20.0, 10.0, 20.0, 10.0, 10.0, 20.0, 10.0, 20.0)


def test_streams_that_are_ready_together_share_a_step():
    made = bench(costs=Costs(decode=60), chunk_ms=100)
    measured(made, recording(2.0), streams=2, waits_for_rule=False)
    assert max(made.engine.batches) == 2
    assert sum(made.engine.batches) == 40


def test_a_window_lets_streams_that_come_one_after_the_other_share_a_step():
    made = bench(costs=Costs(decode=10), chunk_ms=100, window_ms=60)
    measured(made, recording(2.0), streams=2, waits_for_rule=False)
    alone = bench(costs=Costs(decode=10), chunk_ms=100)
    measured(alone, recording(2.0), streams=2, waits_for_rule=False)
    assert set(alone.engine.batches) == {1}
    assert made.engine.batches.count(2) >= 19


# Jitter


def test_oversleeping_is_jitter_and_not_hidden_from_latency():
    made = bench(costs=Costs(decode=30))
    made.overslept_ms = 7
    outcome = measured(made, recording(0.5))
    assert set(outcome.jitter_ms.items()) == {7.0}
    assert outcome.jitter_max_ms == 7
    assert set(chunks_of(made.rig, outcome).latency_ms) == {37.0}


def test_work_that_makes_the_feeder_late_is_no_jitter():
    made = bench(costs=Costs(decode=250))
    outcome = measured(made, recording(2.0))
    assert outcome.jitter_max_ms == 0


# Latencies of the utterance


def test_flush_runs_from_the_last_sample_to_the_final():
    made = bench(("one", 0.5), costs=Costs(decode=30), look_ahead_ms=100, silence_ms=2000)
    utterance = only(measured(made, recording(1.0, "one", end_s=0.5)))
    # With the last piece the last but one step can run, and the padding of finish lets the last one run.
    assert utterance.flush_ms == 60
    assert utterance.final_ms is None
    assert (utterance.text, utterance.errors, utterance.units) == ("one", 0, 1)


def test_a_recording_left_to_the_rule_has_its_parts():
    made = bench(("one", 0.5), costs=Costs(decode=30))
    clips = [recording(0.6, end_s=0.5, name=name) for name in ("flushed", "left")]
    flushed, left = measured(made, *clips, seconds=1.0).utterances.items()
    assert (flushed.clip, left.clip) == ("flushed", "left")
    assert left.flush_ms is None
    # The rule holds 400 ms after the token at 500 ms, with the piece that ends at 900.
    assert (left.final_ms, left.final_rule_ms, left.final_compute_ms, left.final_delivery_ms) == (430, 400, 30, 0)


def test_waiting_of_the_final_is_computing_and_not_the_rule():
    made = bench(("one", 0.5), costs=Costs(decode=110))
    clips = [recording(0.6, end_s=0.5, name=name) for name in ("flushed", "left")]
    left = measured(made, *clips, seconds=1.5).utterances.items()[1]
    # The ninth step ends 100 + 9 x 110 ms after the recording began, and its audio was there at 900.
    assert (left.final_ms, left.final_rule_ms, left.final_compute_ms) == (590, 400, 190)


def test_a_rule_that_never_speaks_is_not_waited_for():
    made = bench(costs=Costs(decode=1))
    clips = [recording(0.5, name="flushed"), recording(0.5, name="left")]
    left = measured(made, *clips, seconds=0.9).utterances.items()[1]
    assert left.final_ms is None
    waited_ms = (made.clock.now_ns() - 1_000_000_000) / 1e6
    assert waited_ms < 50 + 2 * 500 + 1000 * (2 * PAUSE_S + PATIENCE_S) + 200


def test_silence_inside_the_recording_may_close_it_without_waiting_on():
    made = bench(("one", 0.2), costs=Costs(decode=10), silence_ms=300)
    clips = [recording(1.0, end_s=0.2, name=name) for name in ("flushed", "left")]
    outcome = measured(made, *clips, seconds=1.4)
    left = outcome.utterances.items()[1]
    assert left.final_ms == 310
    assert (made.clock.now_ns() - 1_000_000_000) / 1e6 < 3000


def test_the_first_partial_counts_from_the_onset():
    made = bench(("one", 0.5), ("two", 0.7), costs=Costs(decode=30))
    assert only(measured(made, recording(1.0, onset_s=0.3))).first_partial_ms == 230


def test_a_recording_is_ended_at_once_every_second_time():
    made = bench(("one", 0.1), costs=Costs(decode=1))
    outcome = measured(made, recording(0.2, end_s=0.1), seconds=3.0)
    flushed = [utterance.flush_ms is not None for utterance in outcome.utterances.items()]
    assert flushed == [True, False] * (len(flushed) // 2) + [True] * (len(flushed) % 2)
    assert len(flushed) >= 4


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_each_recording_is_ended_at_once_and_left_alone_in_turns(count):
    made = bench(("one", 0.1), costs=Costs(decode=1))
    clips = [recording(0.2, end_s=0.1, name=str(number)) for number in range(count)]
    outcome = measured(made, *clips, seconds=1.0 * 2 * count)
    for name in map(str, range(count)):
        ways = [utterance.flush_ms is not None for utterance in outcome.utterances.items() if utterance.clip == name]
        assert set(ways[:2]) == {True, False}


def test_nobody_waits_for_the_rule_where_it_does_not_matter():
    made = bench(costs=Costs(decode=1))
    outcome = measured(made, recording(0.5), streams=2, seconds=2.0, waits_for_rule=False)
    assert outcome.utterances.count == 6
    assert outcome.audio_s == pytest.approx(3.0)


# Many recordings


def test_listeners_begin_the_list_at_different_places():
    made = bench(costs=Costs(decode=1))
    clips = [recording(0.3, name=name) for name in "abc"]
    outcome = measured(made, *clips, streams=3, seconds=0.1, waits_for_rule=False)
    assert sorted((each.stream, each.clip) for each in outcome.utterances.items()) == [(0, "a"), (1, "b"), (2, "c")]


def test_no_recording_begins_after_the_time_and_none_is_broken_off():
    made = bench(costs=Costs(decode=1))
    outcome = measured(made, recording(1.0), seconds=1.0, waits_for_rule=False)
    assert outcome.utterances.count == 1
    assert outcome.audio_s == 1.0


def test_a_session_that_fails_is_counted_and_the_next_one_begins():
    calls: list[int] = []

    def fail_once(_streams):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("the arena is full")

    made = bench(costs=Costs(decode=1), on_decode=fail_once)
    outcome = measured(made, recording(0.5), seconds=1.0, waits_for_rule=False)
    assert outcome.failures == {"the engine failed on this session: the arena is full": 1}
    assert outcome.utterances.count == 2


def test_a_long_run_keeps_a_sample_and_exact_sums():
    made = bench(costs=Costs(decode=1), notebook=Notebook(most_utterances=5, most_steps=7))
    outcome = measured(made, recording(0.5), seconds=40.0, waits_for_rule=False)
    chunks = chunks_of(made.rig, outcome)
    assert len(outcome.utterances.items()) == 5
    assert outcome.audio_s == pytest.approx(0.5 * outcome.utterances.count)
    assert chunks.step_count == 5 * outcome.utterances.count
    assert len(chunks.latency_ms) == len(chunks.at_s) == 7


# A second pass


def test_a_final_of_a_second_pass_is_as_late_as_that_takes():
    made = bench(("go", 0.9), second_pass_ms=70, is_second_pass_live=True)
    found = only(measured(made, recording(1.0), waits_for_rule=False))
    assert (found.text, found.flush_ms) == ("better", 70.0)


def test_waiting_for_a_second_pass_is_sleep_and_no_jitter():
    made = bench(("go", 0.9), second_pass_ms=70, is_second_pass_live=True)
    outcome = measured(made, recording(1.0), waits_for_rule=False)
    assert made.engine.batches == [1] * 10
    assert outcome.jitter_max_ms == 0
    assert made.looks < 30


def test_a_second_pass_beyond_its_deadline_is_skipped_and_counted():
    made = bench(("go", 0.9), second_pass_ms=2000, is_second_pass_live=True)
    found = only(measured(made, recording(1.0), waits_for_rule=False))
    assert (found.text, found.flush_ms, found.second_passes_skipped) == ("go", 1500.0, 1)
