from __future__ import annotations

import pytest

from tools.peers_bench.steps import Arrival, StepTiming, step_latencies_s

ZIPFORMER2 = StepTiming(chunk_frames=32, window_frames=45)
PIECE = 1600
SECOND_NS = 1_000_000_000


# When sherpa-onnx's server, fed with 100 ms at a time, sent its first four results: after 0.5, 0.8, 1.2 and 1.5 s.
@pytest.mark.parametrize(("step", "piece"), [(1, 5), (2, 8), (3, 12), (4, 15)])
def test_a_step_waits_for_the_audio_that_the_engine_waits_for(step: int, piece: int) -> None:
    assert (piece - 1) * PIECE < ZIPFORMER2.needed_samples(step, padding_samples=0) <= piece * PIECE


def test_silence_before_the_recording_makes_a_step_wait_for_less_of_it() -> None:
    assert ZIPFORMER2.needed_samples(1, 1600) == ZIPFORMER2.needed_samples(1, 0) - 1600


def test_a_step_has_as_long_as_it_moves_on() -> None:
    assert ZIPFORMER2.chunk_s == 0.32


def spoken(pieces: int) -> list[int]:
    return [SECOND_NS * (number + 1) // 10 for number in range(pieces)]


def test_latency_counts_from_the_piece_that_completes_the_step() -> None:
    arrivals = [Arrival(1, SECOND_NS * 52 // 100), Arrival(2, SECOND_NS * 90 // 100)]
    assert step_latencies_s(ZIPFORMER2, arrivals, spoken(10), PIECE, 0) == pytest.approx([0.02, 0.1])


def test_the_first_result_of_a_step_counts() -> None:
    arrivals = [Arrival(1, SECOND_NS * 52 // 100), Arrival(1, SECOND_NS)]
    assert step_latencies_s(ZIPFORMER2, arrivals, spoken(10), PIECE, 0) == pytest.approx([0.02])


def test_steps_that_only_the_end_of_the_recording_brings_are_left_out() -> None:
    assert step_latencies_s(ZIPFORMER2, [Arrival(2, SECOND_NS)], spoken(7), PIECE, 0) == []
