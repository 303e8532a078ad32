"""Standard input: a container, or samples whose format is told."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
import soundfile

from edge_asr.errors import AudioUnreadable, MachineError
from edge_asr.sources import pipe
from edge_asr.sources.pcm import PcmLayout
from edge_asr.sources.pcm_source import PcmSource
from edge_asr.sources.pipe import open_pipe, open_raw_pipe, spooled
from tests.sources.conftest import chunk, format_chunk, read_all, riff, s16le, tone


def flac() -> bytes:
    file = io.BytesIO()
    soundfile.write(file, tone(), 16_000, format="FLAC")
    return file.getvalue()


@pytest.fixture
def spool_directory(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_wav_is_read_as_it_arrives(spool_directory: Path) -> None:
    source = open_pipe(io.BytesIO(riff(format_chunk(), chunk(b"data", s16le(tone()), declared=0xFFFFFFFF))))

    assert isinstance(source, PcmSource)
    assert len(read_all(source)) == 8000
    assert not list(spool_directory.iterdir())


def test_another_container_goes_through_a_file_that_leaves_no_trace(spool_directory: Path) -> None:
    source = open_pipe(io.BytesIO(flac()))

    assert not list(spool_directory.iterdir())
    assert len(read_all(source)) == 8000


def test_a_compressed_wav_goes_through_a_file_too() -> None:
    file = io.BytesIO()
    soundfile.write(file, tone(), 16_000, format="WAV", subtype="IMA_ADPCM")

    assert len(read_all(open_pipe(io.BytesIO(file.getvalue())))) >= 8000


def test_raw_samples_need_their_format_told() -> None:
    assert len(read_all(open_raw_pipe(io.BytesIO(s16le(tone())), PcmLayout("s16le", 16_000, 1)))) == 8000


@pytest.mark.parametrize("content", [b"", b"RIFF", b"hello world " * 50])
def test_an_error_calls_it_standard_input(content) -> None:
    with pytest.raises(AudioUnreadable, match=r"^standard input: "):
        read_all(open_pipe(io.BytesIO(content)))


def test_what_is_too_long_to_hold_is_refused(monkeypatch, spool_directory: Path) -> None:
    monkeypatch.setattr(pipe, "MAX_SPOOL_BYTES", 1 << 20)

    with (
        pytest.raises(AudioUnreadable, match="longer than 1 MiB; save it as a file"),
        spooled(io.BytesIO(b"x" * (1 << 21)), "standard input"),
    ):
        pass
    assert not list(spool_directory.iterdir())


def test_no_room_for_a_file_is_the_machine_s_fault(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))

    with pytest.raises(MachineError, match="set TMPDIR to a directory with room"):
        open_pipe(io.BytesIO(flac()))
