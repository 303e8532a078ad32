"""Files as people really have them."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from edge_asr.errors import AudioNotFound, AudioUnreadable
from edge_asr.sources.file import open_file, open_raw_file
from edge_asr.sources.pcm import PcmLayout
from tests.sources.conftest import chunk, format_chunk, read_all, riff, s16le, tone


def encoded(samples: np.ndarray, container: str, subtype: str | None = None, rate_hz: int = 16_000) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format=container, subtype=subtype)
    return file.getvalue()


@pytest.mark.parametrize(
    ("container", "subtype"),
    [
        ("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "PCM_32"), ("WAV", "FLOAT"), ("WAV", "DOUBLE"),
        ("WAV", "PCM_U8"), ("WAV", "ALAW"), ("WAV", "ULAW"), ("WAVEX", "PCM_24"), ("RF64", "PCM_16"),
        ("W64", "PCM_16"), ("FLAC", "PCM_16"), ("AIFF", "PCM_16"), ("CAF", "PCM_16"), ("AU", "PCM_16"),
    ],
)  # fmt: skip
def test_formats_that_keep_every_sample(write, container, subtype) -> None:
    source = open_file(write("x", encoded(tone(), container, subtype)))

    assert source.duration_s == 0.5
    assert np.allclose(read_all(source), tone(), atol=0.02)
    assert list(source.warnings) == []


@pytest.mark.parametrize(("container", "subtype"), [("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III")])
def test_formats_that_lose_something(write, container, subtype) -> None:
    samples = read_all(open_file(write("x", encoded(tone(1.0), container, subtype))))

    assert len(samples) == 16_000
    assert np.corrcoef(samples, tone(1.0))[0, 1] > 0.99


def test_the_name_says_nothing_about_the_format(write) -> None:
    assert len(read_all(open_file(write("song.wav", encoded(tone(), "MP3"))))) == len(tone())
    assert len(read_all(open_file(write("voice.raw", encoded(tone(), "WAV"))))) == len(tone())


def test_a_channel_of_stereo(write) -> None:
    stereo = np.stack([tone(), np.zeros_like(tone())], axis=1)
    path = write("x.flac", encoded(stereo, "FLAC"))

    assert np.abs(read_all(open_file(path, "right"))).max() == 0
    assert np.allclose(read_all(open_file(path, "mix")), tone() / 2, atol=1e-4)
    assert open_file(path).channels == 2


@pytest.mark.parametrize("declared", [0, 0xFFFFFFFF])
def test_a_wav_written_to_a_pipe_is_read_to_its_end(write, declared) -> None:
    content = riff(format_chunk(), chunk(b"data", s16le(tone()), declared=declared))

    source = open_file(write("x.wav", content))

    assert source.duration_s == 0.5
    assert len(read_all(source)) == 8000


def test_an_odd_chunk_without_padding_does_not_hide_the_samples(write) -> None:
    content = riff(chunk(b"LIST", b"INFOx", is_padded=False), format_chunk(), chunk(b"data", s16le(tone())))

    assert len(read_all(open_file(write("x.wav", content)))) == 8000


@pytest.mark.parametrize("container", ["WAV", "FLAC", "MP3", "OGG", "AIFF", "AU", "W64"])
def test_a_file_that_is_cut_off_is_read_as_far_as_it_goes(write, container) -> None:
    rng = np.random.default_rng(3)
    content = encoded(rng.uniform(-0.5, 0.5, 64_000).astype(np.float32), container)

    source = open_file(write("x", content[: len(content) // 2]))
    length_s = len(read_all(source)) / 16_000

    assert 0.5 < length_s < 2.5
    (warning,) = source.warnings
    assert f"{length_s:.2f} s" in warning


def test_float_samples_that_no_integer_could_hold_pass_with_a_warning(write) -> None:
    samples = np.array([15.0, np.nan, 0.5], np.float32)
    source = open_file(write("x.wav", encoded(samples, "WAV", "FLOAT")))

    assert np.array_equal(read_all(source), samples, equal_nan=True)
    assert len(source.warnings) == 2


def test_telephone_band_is_said(write) -> None:
    source = open_file(write("x.wav", encoded(tone(rate_hz=8000), "WAV", "ULAW", 8000)))

    assert list(source.warnings) == ["8000 Hz is the telephone band; accuracy is lower than at 16000 Hz"]


def patched(offset: int, layout: str, value: int) -> bytes:
    content = bytearray(encoded(tone(), "WAV"))
    struct.pack_into(layout, content, offset, value)
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (encoded(tone(), "WAV")[:30], "its header is cut off"),
        (riff(format_chunk(), chunk(b"data", b"")), "it holds no audio"),
        (patched(24, "<I", 0), "the header says 0 Hz; 4000 to 384000 Hz are accepted"),
        (patched(22, "<H", 0), "the header says 0 channels"),
        (riff(chunk(b"data", s16le(tone()))), "the samples come before their format"),
    ],
)
def test_a_file_without_usable_audio_is_refused_with_the_reason(write, content, reason) -> None:
    path = write("x.wav", content)

    with pytest.raises(AudioUnreadable) as error:
        read_all(open_file(path))

    assert str(error.value).startswith(f"{path}: {reason}")


@pytest.mark.parametrize("name", ["x.raw", "x.pcm", "x.wav"])
def test_samples_without_a_header_are_not_guessed_at(write, name) -> None:
    with pytest.raises(AudioUnreadable, match=r"say how they are written .`transcribe` and `batch` take --raw"):
        open_file(write(name, s16le(np.random.default_rng(5).uniform(-1, 1, 20_000).astype(np.float32))))


def test_samples_without_a_header_are_read_when_their_format_is_told(write) -> None:
    source = open_raw_file(write("x.raw", s16le(tone())), PcmLayout("s16le", 16_000, 1))

    assert source.duration_s == 0.5
    assert np.allclose(read_all(source), tone(), atol=1e-4)


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(AudioNotFound, match=r"missing\.wav: no such audio file"):
        open_file(tmp_path / "missing.wav")


def test_a_directory_is_no_recording(tmp_path) -> None:
    with pytest.raises(AudioUnreadable, match="cannot be read: Is a directory"):
        open_file(tmp_path)


def test_an_error_calls_the_file_by_the_name_it_is_told(write) -> None:
    with pytest.raises(AudioUnreadable, match=r"^upload: the file is empty"):
        open_file(write("tmp123", b""), name="upload")


def test_closing_gives_the_descriptor_back(write) -> None:
    path = write("x.flac", encoded(tone(), "FLAC"))
    before = len(list(Path("/proc/self/fd").iterdir()))

    source = open_file(path)
    source.close()
    source.close()

    assert len(list(Path("/proc/self/fd").iterdir())) == before


MEASURE = """
import resource, sys
from pathlib import Path
from edge_asr.sources.file import open_file
import edge_asr.sources.pcm_source, soundfile
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seconds = sum(chunk.duration_s for chunk in open_file(Path(sys.argv[1])))
print(round(seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("declared", [7200 * 32_000, 0xFFFFFFFF])
def test_two_hours_cost_no_more_memory_than_a_moment(tmp_path: Path, declared) -> None:
    path = tmp_path / "long.wav"
    with path.open("wb") as file:
        file.write(riff(format_chunk(), chunk(b"data", b"", declared=declared)))
        file.truncate(44 + 7200 * 32_000)  # zeros that take no room on the disk

    ran = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)

    seconds, grown_kib = map(int, ran.stdout.split())
    assert seconds == 7200
    assert grown_kib < 8 * 1024
