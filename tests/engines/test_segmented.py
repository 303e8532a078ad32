from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_asr.audio import Float32Array
from edge_asr.clock import ManualClock
from edge_asr.engines.base import EngineDescription, Hypothesis, StreamOptions
from edge_asr.engines.scripted import ScriptedSegmentDecoder
from edge_asr.engines.segmented import SegmentedEngine, SegmentedStream, pace_of
from edge_asr.settings import EngineSettings
from tests.support.engine_cases import decode_ready, feed, noise, silence

RATE = 16_000
WINDOW = 512
BATCH = StreamOptions(partials=False, is_batch=True)
LIVE = StreamOptions(partials=True)
QUIET = StreamOptions(partials=False)


def sounds(samples: Float32Array) -> str:
    """As many words as there are sounds, told apart by silence of 50 ms; each is named by its length in tenths."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.abs(samples) > 1e-3, [0]]).astype(int)))
    gaps = [end - begin for begin, end in zip(edges[1:-1:2], edges[2::2], strict=True)]
    sounds_end = [edge for edge, gap in zip(edges[1:-1:2], gaps, strict=True) if gap > RATE // 20]
    sounds_begin = [edge for edge, gap in zip(edges[2::2], gaps, strict=True) if gap > RATE // 20]
    if not len(edges):
        return ""
    begins, ends = [edges[0], *sounds_begin], [*sounds_end, edges[-1]]
    return " ".join(f"w{round((end - begin) / 1600)}" for begin, end in zip(begins, ends, strict=True))


class Loudness:
    """A detector that is never wrong."""

    def hears_speech(self, window: Float32Array, level_dbfs: float) -> bool:
        return level_dbfs > -40

    def reset(self) -> None:
        pass


class Bench:
    """A segmented engine over a scripted decoder, and what it decoded."""

    def __init__(
        self,
        recognize: Callable[[Float32Array], str] = sounds,
        max_segment_s: float = 30.0,
        slow_ms: float = 0.0,
        **engine_settings,
    ) -> None:
        self.clock = ManualClock()

        def take_time(samples: Float32Array) -> str:
            self.clock.advance_ms(slow_ms)
            return recognize(samples)

        self.decoder = ScriptedSegmentDecoder(take_time, max_segment_s=max_segment_s)
        description = EngineDescription("scripted", "scripted", "cpu", 1, RATE, 0.0, 0.0, is_streaming=False)
        self.engine = SegmentedEngine(
            self.decoder,
            description,
            EngineSettings(**engine_settings),
            lambda _is_batch: Loudness(),
            self.clock,
        )

    def stream(self, options: StreamOptions) -> SegmentedStream:
        return self.engine.open_stream(options)

    def feed(self, stream: SegmentedStream, *parts: Float32Array) -> list[Hypothesis]:
        return feed(self.engine, stream, np.concatenate(parts), 1600)

    def finish(self, stream: SegmentedStream) -> Hypothesis:
        stream.finish()
        decode_ready(self.engine, [stream])
        return stream.hypothesis()

    @property
    def decodes_s(self) -> list[float]:
        """Length of each decoded stretch, seconds."""
        return [samples / RATE for samples in self.decoder.decoded_samples]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def voice(duration_s: float) -> Float32Array:
    return noise(duration_s, RATE)


def pause(duration_s: float) -> Float32Array:
    return silence(duration_s, RATE)


def test_silence_is_never_decoded(bench):
    stream = bench.stream(LIVE)
    bench.feed(stream, pause(10))
    bench.finish(stream)
    assert bench.decodes_s == []


def test_a_short_clip_in_batch_work_is_decoded_once_and_without_its_silence(bench):
    stream = bench.stream(BATCH)
    bench.feed(stream, pause(1), voice(0.8), pause(0.5), voice(0.8), pause(2))
    assert bench.finish(stream).text == "w8 w8"
    assert bench.decodes_s == [pytest.approx(2.1 + 2 * 0.32, abs=0.1)]


def test_a_clip_that_ends_within_speech_is_decoded_once(bench):
    stream = bench.stream(BATCH)
    bench.feed(stream, voice(2))
    assert bench.finish(stream).text == "w20"
    assert bench.decodes_s == [pytest.approx(2.0)]


def test_the_text_is_ready_at_a_short_pause_and_not_decoded_again_at_the_end(bench):
    stream = bench.stream(QUIET)
    bench.feed(stream, pause(0.5), voice(1), pause(0.6))
    assert stream.hypothesis().text == "w10"
    bench.finish(stream)
    assert len(bench.decodes_s) == 1


def test_speech_that_goes_on_after_a_pause_is_decoded_with_what_was_before(bench):
    stream = bench.stream(QUIET)
    bench.feed(stream, voice(1), pause(0.6), voice(0.5), pause(0.6))
    assert stream.hypothesis().text == "w10 w5"


def test_batch_work_lets_short_pauses_pass(bench):
    stream = bench.stream(BATCH)
    bench.feed(stream, voice(1), pause(0.6), voice(1), pause(0.6))
    assert bench.decodes_s == []


def test_batch_work_is_ready_before_the_pause_closes_the_segment(bench):
    stream = bench.stream(StreamOptions(partials=False, is_batch=True, closing_silence_ms=1000))
    bench.feed(stream, voice(1), pause(0.9))
    assert stream.hypothesis().text == "w10"


def test_partials_come_at_their_interval():
    bench = Bench(partial_interval_ms=480)
    stream = bench.stream(LIVE)
    bench.feed(stream, pause(0.512), voice(3))
    growth = np.diff(bench.decodes_s)
    assert bench.decodes_s[0] == pytest.approx(0.32 + 0.48, abs=0.16)
    assert growth.tolist() == pytest.approx([0.48] * 4, abs=0.01)


def test_partials_stop_in_a_pause(bench):
    stream = bench.stream(LIVE)
    bench.feed(stream, voice(1.5), pause(0.6))
    count = len(bench.decodes_s)
    bench.feed(stream, pause(5))
    assert len(bench.decodes_s) == count


def test_slow_decoding_makes_partials_rarer():
    bench = Bench(slow_ms=800)
    stream = bench.stream(LIVE)
    bench.feed(stream, voice(6))
    assert 2 <= len(bench.decodes_s) <= 3  # 0.8 s of decoding in 2 s of speech


def test_more_streams_make_partials_rarer():
    bench = Bench(slow_ms=200)
    alone = bench.stream(LIVE)
    bench.feed(alone, voice(6))
    alone_count = len(bench.decodes_s)
    others = [bench.stream(LIVE) for _ in range(7)]
    bench.feed(others[0], voice(6))
    assert len(bench.decodes_s) - alone_count < alone_count / 3


def test_covered_audio_stands_still_while_speech_is_undecoded_and_follows_a_pause(bench):
    stream = bench.stream(QUIET)
    bench.feed(stream, pause(1.0), voice(2))
    assert stream.hypothesis().decoded_samples / RATE == pytest.approx(1.0, abs=0.05)
    bench.feed(stream, pause(2.0))
    assert stream.hypothesis().decoded_samples / RATE == pytest.approx(5.0, abs=0.16)


def test_a_false_alarm_is_forgotten():
    bench = Bench(lambda _samples: "")
    stream = bench.stream(QUIET)
    bench.feed(stream, voice(0.2), pause(1))
    bench.feed(stream, voice(1), pause(1))
    assert bench.decodes_s[1] < 1.7  # without the click before


def test_the_next_segment_begins_with_undecoded_audio_only(bench):
    stream = bench.stream(QUIET)
    bench.feed(stream, voice(1), pause(0.6))
    stream.reset()
    bench.feed(stream, voice(0.7), pause(0.6))
    assert stream.hypothesis().text == "w7"
    assert bench.decodes_s[1] <= 0.7 + 2 * 0.32 + 0.04


def test_a_reset_between_the_beginning_of_speech_and_its_first_decode_loses_nothing(bench):
    stream = bench.stream(QUIET)
    bench.feed(stream, pause(2.3), voice(0.3))
    stream.reset()
    bench.feed(stream, voice(0.7), pause(0.6))
    assert stream.hypothesis().text == "w10"
    assert bench.decodes_s[0] > 1.5  # the pre-roll is still there


def test_a_long_stretch_is_cut_at_its_lull_and_nothing_is_lost(bench):
    stream = bench.stream(LIVE)
    complete = bench.feed(stream, voice(12.5), pause(0.2), voice(4))
    assert [hypothesis.text for hypothesis in complete] == ["w125"]
    assert complete[0].is_complete
    assert bench.finish(stream).text == "w40"


def test_a_stretch_without_lull_is_cut_before_it_is_too_long(bench):
    stream = bench.stream(LIVE)
    complete = bench.feed(stream, voice(40))
    rest = bench.finish(stream)
    tenths = [int(hypothesis.text.removeprefix("w")) for hypothesis in [*complete, rest]]
    assert len(complete) == 2
    assert sum(tenths) == pytest.approx(400, abs=2)
    assert max(bench.decodes_s) <= 15.5


def test_no_stretch_is_longer_than_the_model_takes():
    bench = Bench(max_segment_s=6.0)
    stream = bench.stream(BATCH)
    complete = bench.feed(stream, voice(20))
    bench.finish(stream)
    assert len(complete) >= 3
    assert max(bench.decodes_s) <= 6.0


def test_silence_within_a_segment_does_not_make_a_stretch_too_long():
    bench = Bench(max_segment_s=10.0)
    stream = bench.stream(LIVE)
    complete = bench.feed(stream, voice(2), pause(30), voice(2))
    assert [*(hypothesis.text for hypothesis in complete), bench.finish(stream).text] == ["w20", "w20"]


def test_a_complete_hypothesis_waits_for_its_reset(bench):
    stream = bench.stream(LIVE)
    stream.accept(voice(20))
    while stream.is_ready():
        bench.engine.decode([stream])
    assert stream.hypothesis().is_complete
    stream.reset()
    assert stream.is_ready()


def test_detectors_are_used_again():
    made = []

    def open_activity(_is_batch: bool) -> Loudness:
        made.append(Loudness())
        return made[-1]

    description = EngineDescription("scripted", "scripted", "cpu", 1, RATE, 0.0, 0.0, is_streaming=False)
    engine = SegmentedEngine(ScriptedSegmentDecoder(sounds), description, EngineSettings(), open_activity)
    for _ in range(5):
        engine.open_stream(LIVE).close()
    assert len(made) == 1
    assert engine.open_streams == 0


def test_a_dropped_stream_counts_no_more_when_closed_twice(bench):
    stream = bench.stream(LIVE)
    stream.close()
    stream.close()
    assert bench.engine.open_streams == 0


def test_memory_of_a_long_silent_stream_stays_small(bench):
    stream = bench.stream(LIVE)
    bench.feed(stream, pause(120))
    assert stream._audio.end - stream._audio.start < RATE
    assert len(stream._track._heard) < 20


def test_the_pace_of_batch_work_follows_the_closing_silence():
    pace = pace_of(EngineSettings(), StreamOptions(partials=False, is_batch=True, closing_silence_ms=2300), 30.0)
    assert pace.pause * WINDOW / RATE == pytest.approx(2.0, abs=0.02)
    assert pace.partial is None


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(2, 40), st.integers(0, 12)), min_size=1, max_size=6),
    st.lists(st.integers(1, 30_000), min_size=1, max_size=8),
    st.sampled_from([LIVE, QUIET, BATCH]),
)
def test_the_cutting_into_pieces_changes_no_text(sounds_and_pauses, pieces, options):
    audio = np.concatenate(
        [part for loud, quiet in sounds_and_pauses for part in (voice(loud / 10), pause(quiet / 10))]
    )

    def texts(sizes: list[int]) -> list[str]:
        bench = Bench()
        stream = bench.stream(options)
        found: list[Hypothesis] = []
        position = 0
        while position < len(audio):
            for size in sizes:
                found += feed(bench.engine, stream, audio[position : position + size], size)
                position += size
        return [*(hypothesis.text for hypothesis in found), bench.finish(stream).text]

    assert texts(pieces) == texts([1600])
