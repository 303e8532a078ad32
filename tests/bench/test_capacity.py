"""What a board carries, read from bench documents."""

from __future__ import annotations

import msgspec
import pytest

from edge_asr.bench.capacity import capacity_from_document
from edge_asr.errors import GateFailed, InputError
from edge_asr.statistics import Percentile, TooFew
from tests.bench.documents import THROTTLED, disturbed, document
from tests.bench.measurements import at_live_pace, repeated

IN_TIME = [100.0] * 700
LATE = [100.0] * 600 + [400.0] * 100


def test_the_largest_number_of_streams_in_time_is_the_capacity() -> None:
    capacity = capacity_from_document(
        document(at_live_pace(1, IN_TIME), at_live_pace(2, IN_TIME), at_live_pace(4, LATE))
    )
    assert (capacity.streams, capacity.is_limit_known) == (2, True)
    assert capacity.at_capacity.chunk_ms == 320
    assert isinstance(capacity.at_capacity.p99, Percentile)
    assert capacity.at_capacity.p99.value == 100


def test_a_number_that_passes_above_one_that_fails_does_not_count() -> None:
    assert (
        capacity_from_document(
            document(at_live_pace(1, IN_TIME), at_live_pace(2, LATE), at_live_pace(4, IN_TIME))
        ).streams
        == 1
    )


def test_a_sample_too_small_for_a_p99_neither_passes_nor_fails() -> None:
    capacity = capacity_from_document(
        document(at_live_pace(1, IN_TIME[:100]), at_live_pace(2, IN_TIME), at_live_pace(4, LATE[:661]))
    )
    assert (capacity.streams, capacity.is_limit_known) == (2, False)
    assert capacity.tests[0].p99 == TooFew(662, 100)


def test_the_setting_with_most_streams_wins_then_the_cheapest() -> None:
    results = [
        at_live_pace(2, IN_TIME, threads=1),
        at_live_pace(4, IN_TIME, threads=2, cpu_per_audio_s=0.2),
        at_live_pace(4, IN_TIME, threads=4, cpu_per_audio_s=0.1, cpus=(0, 1, 2)),
    ]
    capacity = capacity_from_document(document(*results))
    assert (capacity.streams, capacity.cores) == (4, 3)
    assert "4 threads" in capacity.configuration


def test_measurements_that_count_go_before_better_ones_that_do_not() -> None:
    better = disturbed(at_live_pace(8, IN_TIME, threads=2))
    capacity = capacity_from_document(document(at_live_pace(2, IN_TIME), better))
    assert (capacity.streams, capacity.violations) == (2, ())


def test_a_capacity_of_disturbed_runs_says_so() -> None:
    capacity = capacity_from_document(document(disturbed(at_live_pace(2, IN_TIME))))
    assert capacity.violations == (THROTTLED.message,)


def test_memory_and_cpu_are_those_at_capacity() -> None:
    capacity = capacity_from_document(
        document(
            at_live_pace(1, IN_TIME, peak_bytes=100, cpu_per_audio_s=0.25),
            at_live_pace(3, IN_TIME, peak_bytes=160, cpu_per_audio_s=0.2),
            at_live_pace(9, LATE, peak_bytes=900),
        )
    )
    assert capacity.at_capacity.peak_bytes == 160
    assert capacity.at_capacity.cpu_per_audio_s == pytest.approx(0.2)
    assert capacity.bytes_per_stream == 30


def test_one_number_of_streams_does_not_tell_the_memory_of_a_stream() -> None:
    assert capacity_from_document(document(at_live_pace(2, IN_TIME))).bytes_per_stream is None


def test_the_models_share_comes_from_the_throughput_runs() -> None:
    assert capacity_from_document(document(at_live_pace(1, IN_TIME))).model_share is None
    assert capacity_from_document(document(at_live_pace(1, IN_TIME), repeated(0.1))).model_share == pytest.approx(0.9)


def test_late_shares_of_untested_numbers_are_those_of_the_next_greater() -> None:
    some_late = [100.0] * 1393 + [400.0] * 7
    capacity = capacity_from_document(document(at_live_pace(1, IN_TIME), at_live_pace(4, some_late)))
    assert capacity.late_shares(3) == (0, 0, 0.005, 0.005)


def test_models_that_do_not_stream_have_the_time_between_two_partials() -> None:
    result = at_live_pace(1, IN_TIME)
    assert result.runs[0].chunks is not None
    chunks = msgspec.structs.replace(result.runs[0].chunks, chunk_ms=0.0)
    run = msgspec.structs.replace(result.runs[0], chunks=chunks)
    again = msgspec.structs.replace(result, runs=(run,))
    capacity = capacity_from_document(document(again, settings={"engine": {"partial_interval_ms": 600}}))
    assert capacity.at_capacity.chunk_ms == 600


def test_a_board_that_carries_nothing_is_said() -> None:
    with pytest.raises(GateFailed, match="with 1 stream p99 is 400 ms and a chunk lasts 320 ms"):
        capacity_from_document(document(at_live_pace(1, LATE), at_live_pace(2, LATE)))


def test_too_short_a_bench_is_said_with_what_it_takes() -> None:
    short = document(at_live_pace(1, IN_TIME[:100]), at_live_pace(2, IN_TIME[:200]))
    # 100 s hold 100 chunks; 662 take 662 s, and a tenth more to be sure, in tens.
    with pytest.raises(InputError, match=r"662 .* needed and 100 were measured with 1 stream; .* --seconds 730 and"):
        capacity_from_document(short)


def test_a_bench_of_a_daemon_whose_steps_nobody_saw_is_said() -> None:
    with pytest.raises(InputError, match=r"no decoding step, which a daemon \(--url\) does not show"):
        capacity_from_document(document(at_live_pace(1, [])))


def test_a_bench_without_live_pace_is_said() -> None:
    with pytest.raises(InputError, match="--mode paced"):
        capacity_from_document(document(repeated(0.1)))


def test_a_model_that_was_not_measured_is_said() -> None:
    with pytest.raises(InputError, match="'other' at live pace; it has: starter-en"):
        capacity_from_document(document(at_live_pace(1, IN_TIME)), "other")
