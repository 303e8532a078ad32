"""The header of a WAV file, as recorders really write it."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.sources.wav import WavHeader, is_wav, parse_wav_header
from tests.sources.conftest import chunk, format_chunk, riff

SAMPLES = b"\1\2\3\4"


def parse(content: bytes) -> WavHeader:
    header = parse_wav_header(content, is_whole=True)
    assert header is not None
    return header


def extensible(tag: int, bits: int) -> bytes:
    guid_tail = b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
    return format_chunk(0xFFFE, 1, 48_000, bits, struct.pack("<HHIH", 22, bits, 4, tag) + guid_tail)


def test_a_plain_header() -> None:
    content = riff(format_chunk(), chunk(b"data", SAMPLES))

    assert parse(content) == WavHeader("s16le", 16_000, 1, 44, 4, is_well_formed=True)


@pytest.mark.parametrize(
    ("tag", "bits", "encoding"),
    [
        (1, 8, "u8"), (1, 16, "s16le"), (1, 24, "s24le"), (1, 32, "s32le"), (3, 32, "f32le"),
        (6, 8, "alaw"), (7, 8, "mulaw"), (3, 64, None), (0x11, 16, None),
    ],
)  # fmt: skip
def test_encodings(tag, bits, encoding) -> None:
    assert parse(riff(format_chunk(tag, bits=bits), chunk(b"data", SAMPLES))).encoding == encoding


@pytest.mark.parametrize(("tag", "bits", "encoding"), [(1, 24, "s24le"), (3, 32, "f32le")])
def test_the_extensible_format_names_its_own(tag, bits, encoding) -> None:
    assert parse(riff(extensible(tag, bits), chunk(b"data", SAMPLES))).encoding == encoding


def test_a_format_chunk_of_18_bytes_is_read() -> None:
    assert parse(riff(format_chunk(extra=b"\0\0"), chunk(b"data", SAMPLES))).data_start == 46


def test_twenty_bits_stand_in_three_bytes() -> None:
    body = struct.pack("<HHIIHH", 1, 2, 16_000, 96_000, 6, 20)

    assert parse(riff(chunk(b"fmt ", body), chunk(b"data", SAMPLES))).encoding == "s24le"


@pytest.mark.parametrize("declared", [0, 0xFFFFFFFF, 0x7FFFFFFF, 0x7FFF0000])
def test_a_size_written_before_anybody_knew_it_is_no_size(declared) -> None:
    assert parse(riff(format_chunk(), chunk(b"data", SAMPLES, declared=declared))).data_bytes is None


def test_an_empty_chunk_of_samples_before_another_chunk_is_empty() -> None:
    assert parse(riff(format_chunk(), chunk(b"data", b""), chunk(b"LIST", b"INFO"))).data_bytes == 0


@given(st.lists(st.tuples(st.sampled_from([b"LIST", b"JUNK", b"bext", b"PEAK", b"abcd"]), st.binary(max_size=60))))
def test_other_chunks_are_passed_over(others) -> None:
    before = [chunk(name, body) for name, body in others]
    content = riff(*before[::2], format_chunk(), *before[1::2], chunk(b"data", SAMPLES))

    header = parse(content)

    assert content[header.data_start :][:4] == SAMPLES
    assert header.is_well_formed


@given(st.binary(min_size=1, max_size=31).filter(lambda body: len(body) % 2 == 1))
def test_an_odd_chunk_without_its_padding_is_passed_over_too(body) -> None:
    content = riff(chunk(b"LIST", body, is_padded=False), format_chunk(), chunk(b"data", SAMPLES))

    header = parse(content)

    assert content[header.data_start :] == SAMPLES
    assert not header.is_well_formed


@given(st.integers(0, 46))
def test_part_of_a_header_asks_for_more(length) -> None:
    content = riff(format_chunk(extra=b"\0\0"), chunk(b"data", SAMPLES))

    if length >= 12:
        header = parse_wav_header(content[:length], is_whole=False)
        assert header is None if length < 46 else header is not None


@given(st.binary(max_size=200))
def test_no_bytes_at_all_make_it_fail_in_an_unforeseen_way(tail) -> None:
    try:
        header = parse_wav_header(b"RIFF\0\0\0\0WAVE" + tail, is_whole=True)
    except ValueError:
        return
    assert header is not None


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"RIFX....WAVE", "does not begin as a WAV file"),
        (riff(), "its header is cut off"),
        (riff(format_chunk()), "its header is cut off"),
        (riff(chunk(b"data", SAMPLES)), "the samples come before their format"),
        (riff(chunk(b"fmt ", b"\1\0\1\0"), chunk(b"data", SAMPLES)), "its format chunk has 4 bytes"),
    ],
)
def test_damage_is_named(content, complaint) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_wav_header(content, is_whole=True)


@pytest.mark.parametrize(("head", "expected"), [(riff(), True), (b"RIFF", False), (b"", False), (b"ID3" * 9, False)])
def test_a_wav_is_recognised_by_its_first_bytes(head, expected) -> None:
    assert is_wav(head) is expected
