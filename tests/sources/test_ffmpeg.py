"""The formats that only ffmpeg reads."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from edge_asr.errors import AudioUnreadable, AudioUnsupported
from edge_asr.sources.ffmpeg import FfmpegSource
from edge_asr.sources.file import open_file
from tests.sources.conftest import chunk, format_chunk, read_all, riff, s16le, tone

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")


@pytest.fixture
def convert(tmp_path: Path):
    def to(name: str, *options: str, seconds: float = 0.5) -> Path:
        wav = tmp_path / "in.wav"
        wav.write_bytes(riff(format_chunk(), chunk(b"data", s16le(tone(seconds)))))
        target = tmp_path / name
        subprocess.run(["ffmpeg", "-v", "error", "-i", str(wav), *options, str(target)], check=True)
        return target

    return to


@needs_ffmpeg
@pytest.mark.parametrize("name", ["x.m4a", "x.aac", "x.mka", "x.g722"])
def test_a_format_that_libsndfile_does_not_know(convert, name) -> None:
    source = open_file(convert(name))
    samples = read_all(source)

    assert source.sample_rate_hz == 16_000
    assert 0.5 <= len(samples) / 16_000 < 0.7
    assert np.abs(samples).max() == pytest.approx(0.5, abs=0.1)
    assert list(source.warnings) == []


@needs_ffmpeg
def test_the_name_may_look_like_an_option_or_an_address(convert, tmp_path: Path, monkeypatch) -> None:
    convert("x.m4a").rename(tmp_path / "-http:a.m4a")
    monkeypatch.chdir(tmp_path)

    assert len(read_all(open_file(Path("-http:a.m4a")))) > 0


@needs_ffmpeg
def test_closing_in_the_middle_ends_the_program(convert) -> None:
    source = open_file(convert("x.m4a", seconds=60.0))
    assert isinstance(source, FfmpegSource)
    next(iter(source))
    source.close()
    source.close()

    assert source._ffmpeg._process.poll() is not None


@needs_ffmpeg
def test_what_ffmpeg_complains_of_is_passed_on(convert, write) -> None:
    content = convert("x.aac", seconds=2.0).read_bytes()
    source = open_file(write("cut.aac", content[: len(content) // 2]))

    assert 0.5 < len(read_all(source)) / 16_000 < 1.5
    (warning,) = source.warnings
    assert warning.startswith("it may be damaged or cut off; ffmpeg says: Error while decoding")


@needs_ffmpeg
def test_it_leaves_no_descriptor_behind(convert) -> None:
    path = convert("x.m4a")
    before = len(list(Path("/proc/self/fd").iterdir()))

    read_all(open_file(path))

    assert len(list(Path("/proc/self/fd").iterdir())) == before


@needs_ffmpeg
@pytest.mark.parametrize("content", [b"hello world\n" * 100, bytes(range(256)) * 40])
def test_what_nobody_recognises_is_refused(write, content) -> None:
    with pytest.raises(AudioUnreadable, match="neither libsndfile nor ffmpeg recognises audio in it"):
        open_file(write("x.bin", content))


@needs_ffmpeg
def test_a_play_list_cannot_make_ffmpeg_open_other_files(convert, write) -> None:
    other = convert("x.m4a")

    with pytest.raises(AudioUnreadable):
        open_file(write("list.m3u8", f"#EXTM3U\n#EXTINF:1,\n{other}\n#EXT-X-ENDLIST\n".encode()))


@needs_ffmpeg
def test_a_video_without_sound_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.mkv"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=size=16x16:duration=0.2", str(path)], check=True
    )

    with pytest.raises(AudioUnreadable):
        open_file(path)


def test_without_ffmpeg_the_way_out_is_named(write, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    path = write("my voice.m4a", b"\0\0\0\x20ftypM4A \0\0\0\0" + b"\0" * 100)

    with pytest.raises(AudioUnsupported) as error:
        open_file(path)

    assert "WAV, FLAC, Ogg Vorbis and Opus, MP3" in str(error.value)
    assert f"`ffmpeg -i '{path}' -ar 16000 -ac 1 out.wav`" in str(error.value)
