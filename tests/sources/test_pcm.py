"""Every encoding, channel count and cutting."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.errors import ConfigurationError
from edge_asr.requests import SAMPLE_BYTES, Encoding
from edge_asr.sources.pcm import PcmDecoder, PcmLayout, parse_layout

ENCODINGS = st.sampled_from(get_args(Encoding))


def decode_in_pieces(data: bytes, cuts: list[int], decoder: PcmDecoder) -> np.ndarray:
    edges = [0, *sorted(cuts), len(data)]
    return np.concatenate([decoder.decode(data[a:b]) for a, b in pairwise(edges)])


@given(ENCODINGS, st.integers(1, 4), st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_any_cutting_gives_the_same_samples(encoding, channels, data, cuts) -> None:
    cuts = [min(cut, len(data)) for cut in cuts]

    whole = PcmDecoder(encoding, channels).decode(data)
    pieces = decode_in_pieces(data, cuts, PcmDecoder(encoding, channels))

    assert np.array_equal(whole, pieces, equal_nan=True)
    assert len(whole) == len(data) // (SAMPLE_BYTES[encoding] * channels)


@given(ENCODINGS.filter(lambda encoding: encoding != "f32le"), st.binary(max_size=400))
def test_integers_stay_within_full_scale(encoding, data) -> None:
    samples = PcmDecoder(encoding).decode(data)

    assert samples.dtype == np.float32
    assert np.all(np.abs(samples) <= 1.0)


@pytest.mark.parametrize(
    ("encoding", "data", "expected"),
    [
        ("s16le", b"\x00\x00\x00\x80\xff\x7f\x00\x40", [0.0, -1.0, 32767 / 32768, 0.5]),
        ("s24le", b"\x00\x00\x80\x00\x00\x40\xff\xff\xff", [-1.0, 0.5, -(2.0**-23)]),
        ("s32le", b"\x00\x00\x00\x80\x00\x00\x00\x40", [-1.0, 0.5]),
        ("f32le", np.array([0.25, -1.5], "<f4").tobytes(), [0.25, -1.5]),
        ("u8", b"\x80\x00\xc0", [0.0, -1.0, 0.5]),
        ("mulaw", b"\xff\x7f\x80\x00", [0.0, 0.0, 32124 / 32768, -32124 / 32768]),
        ("alaw", b"\xd5\x55\xaa\x2a", [8 / 32768, -8 / 32768, 32256 / 32768, -32256 / 32768]),
    ],
)
def test_known_samples(encoding, data, expected) -> None:
    assert PcmDecoder(encoding).decode(data).tolist() == expected


@pytest.mark.parametrize(("encoding", "subtype"), [("mulaw", "ULAW"), ("alaw", "ALAW")])
def test_every_code_of_g711_means_what_libsndfile_takes_it_for(encoding, subtype) -> None:
    codes = bytes(range(256))
    expected, _ = soundfile.read(
        io.BytesIO(codes), dtype="float32", format="RAW", subtype=subtype, samplerate=8000, channels=1
    )

    assert np.array_equal(PcmDecoder(encoding).decode(codes), expected)


def test_the_chosen_channel_comes_out() -> None:
    interleaved = np.array([1, 2, 3, 4], "<i2").tobytes()

    assert (PcmDecoder("s16le", 2, "right").decode(interleaved) * 32768).tolist() == [2, 4]


def test_bytes_of_an_unfinished_frame_wait() -> None:
    decoder = PcmDecoder("s16le", 2)
    decoder.decode(b"\0" * 7)

    assert decoder.pending_bytes == 3


@pytest.mark.parametrize(
    ("text", "layout"),
    [("s16le:16000:1", PcmLayout("s16le", 16_000, 1)), ("mulaw:8000", PcmLayout("mulaw", 8_000, 1))],
)
def test_a_raw_format_is_read_and_written(text, layout) -> None:
    assert parse_layout(text) == layout
    assert parse_layout(str(layout)) == layout


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("s16be:16000:1", "the encoding is one of s16le"),
        ("s16le", "the rate is 4000 to 384000 Hz"),
        ("s16le:fast:1", "the rate is 4000 to 384000 Hz"),
        ("s16le:0:1", "the rate is 4000 to 384000 Hz"),
        ("s16le:16000:0", "1 to 8 channels"),
        ("s16le:16000:1:2", "1 to 8 channels"),
        ("", "the encoding is one of"),
    ],
)
def test_a_wrong_raw_format_is_refused(text, complaint) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        parse_layout(text)
