"""Samples from a stream of bytes that is read once."""

from __future__ import annotations

import io

import numpy as np
import pytest

from edge_asr.errors import AudioUnreadable, AudioUnsupported
from edge_asr.sources.pcm import PcmLayout
from edge_asr.sources.pcm_source import PcmSource, read_wav_header, wav_source
from tests.sources.conftest import chunk, format_chunk, read_all, riff, s16le, tone

MONO = PcmLayout("s16le", 16_000, 1)


class Trickle(io.BytesIO):
    """A pipe whose writer is slow: at most five bytes at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(min(5, size) if size and size > 0 else 5)


def wav_from(stream: io.BytesIO) -> PcmSource:
    header, head = read_wav_header(stream, "pipe")
    return wav_source(stream, "pipe", header, head)


def test_samples_come_out_in_order_and_numbered() -> None:
    samples = tone(2.0)
    chunks = list(PcmSource(io.BytesIO(s16le(samples)), "x", MONO))

    assert [piece.start_sample for piece in chunks] == [0, 8192, 16_384, 24_576]
    assert np.allclose(np.concatenate([piece.samples for piece in chunks]), samples, atol=1e-4)


def test_a_slow_pipe_is_not_held_up_to_fill_a_block() -> None:
    first = next(iter(PcmSource(Trickle(s16le(tone())), "x", MONO)))

    assert len(first.samples) == 2


def test_a_slow_pipe_gives_the_same_samples() -> None:
    content = riff(format_chunk(), chunk(b"LIST", b"INFOx"), chunk(b"data", s16le(tone())))

    assert np.array_equal(read_all(wav_from(Trickle(content))), read_all(wav_from(io.BytesIO(content))))


def test_chunks_behind_the_samples_are_no_audio() -> None:
    content = riff(format_chunk(), chunk(b"data", s16le(tone())), chunk(b"LIST", b"INFO" * 100))

    assert len(read_all(wav_from(io.BytesIO(content)))) == len(tone())


@pytest.mark.parametrize("declared", [0, 0xFFFFFFFF])
def test_a_streamed_header_means_everything_there_is(declared) -> None:
    source = wav_from(io.BytesIO(riff(format_chunk(), chunk(b"data", s16le(tone()), declared=declared))))

    assert source.duration_s is None
    assert len(read_all(source)) == len(tone())
    assert list(source.warnings) == []


def test_a_recording_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    content = riff(format_chunk(), chunk(b"data", s16le(tone(1.0))))
    source = wav_from(io.BytesIO(content[: 44 + 16_000]))

    assert len(read_all(source)) == 8000
    assert list(source.warnings) == ["it is cut off: it ends after 0.50 s, its header says 1.00 s"]


def test_bytes_that_make_no_whole_sample_are_left_out_with_a_warning() -> None:
    source = PcmSource(io.BytesIO(s16le(tone()) + b"\1"), "x", MONO)

    assert len(read_all(source)) == len(tone())
    assert list(source.warnings) == ["it ends inside a sample; the last byte is left out"]


def test_telephone_band_is_said() -> None:
    source = PcmSource(io.BytesIO(), "x", PcmLayout("mulaw", 8000, 1))

    assert list(source.warnings) == ["8000 Hz is the telephone band; accuracy is lower than at 16000 Hz"]


def test_float_samples_pass_as_they_are_and_are_spoken_of() -> None:
    source = PcmSource(io.BytesIO(np.array([15, np.nan], "<f4").tobytes()), "x", PcmLayout("f32le", 16_000, 1))

    assert np.array_equal(read_all(source), [15, np.nan], equal_nan=True)
    assert len(source.warnings) == 2


@pytest.mark.parametrize("content", [b"", b"\1"])
def test_no_audio_at_all_is_an_error(content) -> None:
    with pytest.raises(AudioUnreadable, match="x: it holds no audio"):
        read_all(PcmSource(io.BytesIO(content), "x", MONO))


@pytest.mark.parametrize(
    ("layout", "complaint"),
    [(PcmLayout("s16le", 0, 1), "0 Hz"), (PcmLayout("s16le", 16_000, 0), "0 channels")],
)
def test_a_layout_that_nobody_records_is_an_error(layout, complaint) -> None:
    with pytest.raises(AudioUnreadable, match=complaint):
        PcmSource(io.BytesIO(b"\0\0"), "x", layout)


@pytest.mark.parametrize("content", [b"", b"RIFF", b"not a wav file at all", riff(format_chunk())])
def test_what_is_no_wav_is_an_error(content) -> None:
    with pytest.raises(AudioUnreadable):
        read_wav_header(io.BytesIO(content), "pipe")


def test_compressed_samples_cannot_come_by_pipe() -> None:
    with pytest.raises(AudioUnsupported, match="compressed"):
        wav_from(io.BytesIO(riff(format_chunk(0x11, bits=4, channels=2), chunk(b"data", b"\1\2"))))
