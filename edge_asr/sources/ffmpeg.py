"""What libsndfile cannot read, through the ``ffmpeg`` program when it is installed.

ffmpeg runs beside us and writes plain samples into a pipe, so a long recording is never whole in memory, and a file
that crashes a decoder does not crash us. Only containers of recordings are let in: ffmpeg also reads play lists, by
which a file from a stranger could make it open others.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from edge_asr.audio import AudioChunk
from edge_asr.errors import AudioUnreadable, AudioUnsupported
from edge_asr.sources.channels import ChannelChoice
from edge_asr.sources.pcm_source import PcmSource, read_head, read_wav_header, wav_source

CONTAINERS = (
    "aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dsf,eac3,flac,flv,g722,g729,gsm,loas,matroska,mov,mp3,mpeg,mpegts,"
    "mpc,mpc8,ogg,rm,tak,tta,voc,w64,wav,webm,wv"
)
"""Demuxers of ffmpeg that may look at a file, by ffmpeg's own names."""

READABLE_FORMATS = "WAV, FLAC, Ogg Vorbis and Opus, MP3, AIFF, AU, CAF and W64"
"""What is read without ffmpeg, in words."""

_PROBE_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 5.0
_GUESSED = "misdetection possible"
"""ffmpeg says so when it takes noise for some format; a transcript of that would be invented."""


class FfmpegSource:
    """Samples from a running ffmpeg; :meth:`close` ends it."""

    def __init__(self, process: subprocess.Popen[bytes], samples: PcmSource) -> None:
        self._process = process
        self._samples = samples
        self._warnings: list[str] = []

    @property
    def sample_rate_hz(self) -> int:
        """Rate of every chunk: that of the recording."""
        return self._samples.sample_rate_hz

    @property
    def channels(self) -> int:
        """Channels of the recording."""
        return self._samples.channels

    @property
    def duration_s(self) -> float | None:
        """Not known before the end."""
        return self._samples.duration_s

    @property
    def warnings(self) -> Sequence[str]:
        """What was found so far."""
        return [*self._samples.warnings, *self._warnings]

    def __iter__(self) -> Iterator[AudioChunk]:
        """The chunks."""
        yield from self._samples
        status = self._process.wait()
        if status:
            self._warnings.append(f"it may be cut off: ffmpeg stopped with status {status}")

    def close(self) -> None:
        """End ffmpeg if it still runs."""
        self._samples.close()
        stop(self._process)


def open_with_ffmpeg(path: Path, name: str, channel: ChannelChoice = "mix") -> FfmpegSource:
    """Decode the first audio track of a file.

    Args:
        path: The file.
        name: What error sentences call it.
        channel: Which of its channels.

    Raises:
        AudioUnsupported: ffmpeg is not installed.
        AudioUnreadable: ffmpeg does not recognise it, or finds no audio in it.
    """
    program = shutil.which("ffmpeg")
    if program is None:
        raise AudioUnsupported(
            name,
            f"not one of the formats read without ffmpeg ({READABLE_FORMATS}); install ffmpeg, or convert the file "
            f"with `ffmpeg -i {shlex.quote(name) if name == str(path) else '-'} -ar 16000 -ac 1 out.wav`",
        )
    _refuse_guesses(program, path, name)
    process = subprocess.Popen(
        [*_command(program, path), "-c:a", "pcm_s16le", "-f", "wav", "pipe:1"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        return FfmpegSource(process, _samples(cast("BufferedIOBase", process.stdout), name, channel))
    except BaseException:
        stop(process)
        raise


def _samples(stdout: BufferedIOBase, name: str, channel: ChannelChoice) -> PcmSource:
    head = read_head(stdout)
    if not head:
        raise AudioUnreadable(name, "ffmpeg finds no audio in it")
    header, head = read_wav_header(stdout, name, head)
    return wav_source(stdout, name, header, head, channel)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and collect it; it gets a moment, then no choice."""
    if process.stdout is not None:
        process.stdout.close()
    process.terminate()
    try:
        process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _command(program: str, path: Path) -> list[str]:
    # "file:" keeps names such as "http://…" or "-x" from being read as anything else.
    return [
        program, "-nostdin", "-hide_banner", "-v", "warning", "-threads", "1",
        "-protocol_whitelist", "file,pipe", "-format_whitelist", CONTAINERS,
        "-i", f"file:{path}", "-map", "0:a:0", "-vn",
    ]  # fmt: skip


def _refuse_guesses(program: str, path: Path, name: str) -> None:
    """Decode the first moment only, to hear what ffmpeg thinks of the file."""
    command = [*_command(program, path), "-t", "0.1", "-f", "null", "-"]
    try:
        probe = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise AudioUnreadable(name, f"ffmpeg made nothing of it within {_PROBE_TIMEOUT_S:.0f} s") from error
    said = probe.stderr.decode(errors="replace").strip().splitlines()
    if probe.returncode or any(_GUESSED in line for line in said):
        raise AudioUnreadable(name, f"neither libsndfile nor ffmpeg recognises audio in it ({_reason(said, path)})")


def _reason(said: list[str], path: Path) -> str:
    """ffmpeg's own last word, without the file's name and its ``[demuxer @ address]``."""
    last = said[-1] if said else "no reason given"
    return last.rsplit("] ", maxsplit=1)[-1].replace(f"file:{path}", "").strip(": ")
