"""The engine contract of ``engines/base.py``, over every engine."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from edge_asr.engines.base import StreamOptions
from edge_asr.engines.scripted import ScriptedEngine
from tests.support.engine_cases import decode_ready, feed, noise, silence, text_of, words

TEN_MS, ODD, HUNDRED_MS, SECOND = 0.010, 0.037, 0.100, 1.0


@pytest.mark.parametrize("piece_s", [TEN_MS, ODD, HUNDRED_MS, SECOND])
def test_any_cutting_of_the_audio_gives_the_same_text(engine, case, piece_s):
    rate = engine.sample_rate_hz
    assert words(text_of(engine, case.amid_silence(rate), round(piece_s * rate))) == case.text


def test_the_whole_recording_at_once_gives_the_same_text(engine, case):
    audio = case.amid_silence(engine.sample_rate_hz)
    assert words(text_of(engine, audio, len(audio))) == case.text


def test_batch_work_without_partials_gives_the_same_text(engine, case):
    options = StreamOptions(partials=False, is_batch=True)
    audio = case.amid_silence(engine.sample_rate_hz)
    assert words(text_of(engine, audio, engine.sample_rate_hz, options)) == case.text


def test_a_word_that_ends_with_the_last_sample_is_not_lost(engine, case):
    rate = engine.sample_rate_hz
    assert words(text_of(engine, case.after_silence(rate), round(HUNDRED_MS * rate))) == case.text


def test_decoding_together_gives_what_decoding_apart_gives(engine, case):
    rate = engine.sample_rate_hz
    speech = case.amid_silence(rate)
    audios = [speech, silence(len(speech) / rate, rate), speech]
    streams = [engine.open_stream(StreamOptions()) for _ in audios]
    piece = round(HUNDRED_MS * rate)
    for start in range(0, len(speech), piece):
        for stream, audio in zip(streams, audios, strict=True):
            stream.accept(audio[start : start + piece])
        decode_ready(engine, streams)
    for stream in streams:
        stream.finish()
    decode_ready(engine, streams)
    of_silence = case.text if case.is_deaf else ""
    assert [words(stream.hypothesis().text) for stream in streams] == [case.text, of_silence, case.text]


def test_steps_are_possible_where_the_description_says_and_not_sooner(engine):
    described = engine.describe()
    if not described.chunk_ms:
        pytest.skip("no step of this engine is like the next")
    stream = engine.open_stream(StreamOptions())
    given_ms = 0.0
    for step in range(4):
        due_ms = max(10.0, described.first_step_ms + step * described.chunk_ms)
        while given_ms + 10 <= due_ms:
            assert given_ms + 10 > due_ms - 10 or not stream.is_ready()
            stream.accept(silence(0.01, engine.sample_rate_hz))
            given_ms += 10
        assert stream.is_ready()
        engine.decode([stream])


def test_silence_has_no_text(engine, case):
    text = text_of(engine, silence(4.0, engine.sample_rate_hz), engine.sample_rate_hz)
    assert text == (case.text if case.is_deaf else "")


def test_no_audio_has_no_text(engine):
    assert text_of(engine, silence(0, engine.sample_rate_hz), 1600) == ""


@pytest.mark.parametrize("samples", [0, 1, 160, 700])
def test_audio_too_short_for_a_word_has_no_text(engine, samples):
    stream = engine.open_stream(StreamOptions())
    stream.accept(noise(samples / engine.sample_rate_hz, engine.sample_rate_hz, rms=0.002))
    stream.finish()
    decode_ready(engine, [stream])
    assert stream.hypothesis().text == ""


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
def test_a_sample_that_is_no_sound_spoils_no_later_text(engine, case, bad):
    rate = engine.sample_rate_hz
    audio = case.amid_silence(rate)
    audio[rate // 4] = bad
    assert words(text_of(engine, audio, round(HUNDRED_MS * rate))).endswith(case.text)


def test_channels_must_be_separated_before(engine):
    stream = engine.open_stream(StreamOptions())
    with pytest.raises(ValueError, match=r"samples of shape \(800, 2\)"):
        stream.accept(np.zeros((800, 2), np.float32))


def test_all_audio_is_covered_in_the_end_and_no_more(engine, case):
    rate = engine.sample_rate_hz
    audio = case.after_silence(rate)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, audio, round(HUNDRED_MS * rate))
    assert stream.hypothesis().decoded_samples <= len(audio)
    stream.finish()
    decode_ready(engine, [stream])
    assert stream.hypothesis().decoded_samples == len(audio)


def test_covered_audio_never_shrinks(engine, case):
    rate = engine.sample_rate_hz
    audio = case.amid_silence(rate)
    piece = round(HUNDRED_MS * rate)
    stream = engine.open_stream(StreamOptions())
    covered = [0]
    for number, start in enumerate(range(0, len(audio), piece)):
        feed(engine, stream, audio[start : start + piece], piece)
        covered.append(stream.hypothesis().decoded_samples)
        if number % 10 == 9:
            stream.reset()
            covered.append(stream.hypothesis().decoded_samples)
    assert covered == sorted(covered)


def test_the_text_begins_anew_after_a_reset_and_times_go_on(engine, case):
    rate = engine.sample_rate_hz
    audio = case.amid_silence(rate)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, audio, round(HUNDRED_MS * rate))
    first = stream.hypothesis()
    stream.reset()
    assert stream.hypothesis().text == ""
    assert stream.hypothesis().decoded_samples == first.decoded_samples
    feed(engine, stream, audio, round(HUNDRED_MS * rate))
    second = stream.hypothesis()
    length_s = len(audio) / rate
    times = [token.start_s for token in first.tokens + second.tokens]
    assert times == sorted(times)
    if case.is_deaf:
        return
    assert all(length_s < token.start_s <= 2 * length_s for token in second.tokens)
    if case.cycles:
        assert len(words(second.text).split()) == pytest.approx(len(case.text.split()), abs=1)
    else:
        # What was said before is still in the model's state, so that a word may be heard otherwise.
        heard, said = words(second.text).split(), case.text.split()
        assert len(heard) == len(said)
        assert sum(one != other for one, other in zip(heard, said, strict=True)) <= 1


def test_tokens_lie_where_the_speech_is(engine, case):
    rate = engine.sample_rate_hz
    audio = case.amid_silence(rate)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, audio, round(HUNDRED_MS * rate))
    stream.finish()
    decode_ready(engine, [stream])
    tokens = stream.hypothesis().tokens
    assert tokens
    begin_s, end_s = 2.0 - case.time_tolerance_s, len(audio) / rate - 2.0 + case.time_tolerance_s
    assert all(begin_s <= token.start_s <= end_s for token in tokens)


def test_the_hypothesis_is_the_same_when_asked_twice(engine, case):
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, case.after_silence(engine.sample_rate_hz), 1600)
    assert stream.hypothesis() == stream.hypothesis()


def test_a_finished_stream_takes_no_more_audio(engine):
    stream = engine.open_stream(StreamOptions())
    stream.finish()
    with pytest.raises(RuntimeError, match="finished"):
        stream.accept(silence(0.1, engine.sample_rate_hz))


def test_a_stream_may_be_finished_and_closed_twice(engine):
    stream = engine.open_stream(StreamOptions())
    stream.finish()
    stream.finish()
    stream.close()
    stream.close()
    assert not stream.is_ready()


def test_decoding_nothing_is_refused(engine):
    with pytest.raises(ValueError, match="no stream"):
        engine.decode([])


def test_decoding_a_stream_twice_in_a_step_is_refused(engine, case):
    stream = engine.open_stream(StreamOptions())
    stream.accept(case.amid_silence(engine.sample_rate_hz))
    assert stream.is_ready()
    with pytest.raises(ValueError, match="once"):
        engine.decode([stream, stream])


def test_decoding_a_stream_that_is_not_ready_is_refused(engine, case):
    ready, fresh = engine.open_stream(StreamOptions()), engine.open_stream(StreamOptions())
    ready.accept(case.amid_silence(engine.sample_rate_hz))
    with pytest.raises(ValueError, match="ready"):
        engine.decode([ready, fresh])


def test_decoding_a_closed_stream_is_refused(engine, case):
    stream = engine.open_stream(StreamOptions())
    stream.accept(case.amid_silence(engine.sample_rate_hz))
    stream.close()
    with pytest.raises(ValueError, match="ready"):
        engine.decode([stream])


def test_a_stream_of_another_engine_is_refused(engine):
    stranger = ScriptedEngine().open_stream(StreamOptions())
    stranger.accept(silence(1.0, 16_000))
    with pytest.raises(ValueError, match="another engine"):
        engine.decode([stranger])


def test_the_description_says_what_was_loaded(engine, case):
    described = engine.describe()
    assert described.provider == case.provider
    assert described.sample_rate_hz == engine.sample_rate_hz
    assert (described.chunk_ms > 0) == described.is_streaming


def test_append_only_text_only_grows(engine, case):
    if not engine.describe().is_append_only:
        pytest.skip("this engine may revise its text")
    rate = engine.sample_rate_hz
    stream = engine.open_stream(StreamOptions())
    seen = [""]
    for start in range(0, 5 * rate, rate // 10):
        feed(engine, stream, case.amid_silence(rate)[start : start + rate // 10], rate // 10)
        seen.append(stream.hypothesis().text)
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(seen))
