"""What libsndfile cannot read, through the ``ffmpeg`` program when it is installed.

ffmpeg runs beside us and writes plain samples into a pipe, so a long recording is never whole in memory, and a file
that crashes a decoder does not crash us. Only containers of recordings are let in: ffmpeg also reads play lists, by
which a file from a stranger could make it open others.
"""

from __future__ import annotations

import os
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

_SAID_BYTES = 1 << 16
_STOP_TIMEOUT_S = 5.0
_GUESSED = "misdetection possible"
"""ffmpeg says so when it takes noise for some format; a transcript of that would be invented."""


class Ffmpeg:
    """A running ffmpeg that writes a WAV file into a pipe, and what it said so far."""

    def __init__(self, program: str, path: Path) -> None:
        self._path = path
        # A pipe nobody reads while ffmpeg fills it would stop ffmpeg; a file in memory needs no writable directory.
        self._said = os.fdopen(os.memfd_create("ffmpeg"), "rb")
        self._process = subprocess.Popen(
            _command(program, path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._said
        )
        self.stdout = cast("BufferedIOBase", self._process.stdout)

    def lines(self) -> list[str]:
        """What it wrote on standard error so far, without the file's name and its ``[demuxer @ address]``."""
        said = os.pread(self._said.fileno(), _SAID_BYTES, 0).decode(errors="replace")
        return [
            line.rsplit("] ", maxsplit=1)[-1].replace(f"file:{self._path}", "").strip(": ")
            for line in said.splitlines()
            if not line.startswith("To ignore this")
        ]

    def wait(self) -> int:
        """Its exit status, once it has written everything."""
        return self._process.wait()

    def stop(self) -> None:
        """End it and collect it; it gets a moment, then no choice. Stopping twice is allowed."""
        self.stdout.close()
        self._process.terminate()
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()


class FfmpegSource:
    """Samples from a running ffmpeg; :meth:`close` ends it."""

    def __init__(self, ffmpeg: Ffmpeg, samples: PcmSource) -> None:
        self._ffmpeg = ffmpeg
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
        status = self._ffmpeg.wait()
        complaints = [line for line in self._ffmpeg.lines() if "error" in line.lower()]
        if status or complaints:
            reason = complaints[0] if complaints else f"it stopped with status {status}"
            self._warnings.append(f"it may be damaged or cut off; ffmpeg says: {reason}")

    def close(self) -> None:
        """End ffmpeg if it still runs."""
        self._samples.close()
        self._ffmpeg.stop()


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
    ffmpeg = Ffmpeg(program, path)
    try:
        return FfmpegSource(ffmpeg, _samples(ffmpeg, name, channel))
    except BaseException:
        ffmpeg.stop()
        raise


def _samples(ffmpeg: Ffmpeg, name: str, channel: ChannelChoice) -> PcmSource:
    """The audio, if ffmpeg is sure that it is some: it says what it thinks of a file before it writes anything."""
    head = read_head(ffmpeg.stdout)
    if not head:
        ffmpeg.wait()
    said = ffmpeg.lines()
    if not head or any(_GUESSED in line for line in said):
        reason = said[-1] if said else "no reason given"
        raise AudioUnreadable(name, f"neither libsndfile nor ffmpeg recognises audio in it ({reason})")
    header, head = read_wav_header(ffmpeg.stdout, name, head)
    return wav_source(ffmpeg.stdout, name, header, head, channel)


def _command(program: str, path: Path) -> list[str]:
    # "file:" keeps names such as "http://…" or "-x" from being read as anything else.
    return [
        program, "-nostdin", "-hide_banner", "-v", "warning", "-threads", "1",
        "-protocol_whitelist", "file,pipe", "-format_whitelist", CONTAINERS,
        "-i", f"file:{path}", "-map", "0:a:0", "-c:a", "pcm_s16le", "-f", "wav", "pipe:1",
    ]  # fmt: skip
