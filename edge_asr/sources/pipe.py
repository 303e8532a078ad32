"""Audio that arrives on a pipe: a WAV or raw samples as they come, other containers through a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import IO

from edge_asr.errors import AudioUnreadable, MachineError
from edge_asr.sources.base import AudioSource
from edge_asr.sources.channels import ChannelChoice
from edge_asr.sources.file import open_file
from edge_asr.sources.pcm import PcmLayout
from edge_asr.sources.pcm_source import PcmSource, read_head, read_wav_header, wav_source
from edge_asr.sources.wav import is_wav

MAX_SPOOL_BYTES = 2 << 30
"""What is held in a temporary file at most; a longer recording should be named as a file."""

_COPY_BYTES = 1 << 18


def open_pipe(stream: BufferedIOBase, channel: ChannelChoice = "mix", *, name: str = "standard input") -> AudioSource:
    """Open a recording that can be read only once and only forwards.

    Args:
        stream: Stands at the beginning; the source closes it, at the latest.
        channel: Which of its channels.
        name: What error sentences call it.

    Raises:
        AudioUnreadable: It is empty, damaged or no audio.
        AudioUnsupported: Only ffmpeg could read it, and ffmpeg is not installed.
        MachineError: There is no room for a temporary file.
    """
    head = read_head(stream)
    if is_wav(head):
        header, head = read_wav_header(stream, name, head)
        if header.encoding is not None:
            return wav_source(stream, name, header, head, channel)
    with spooled(stream, name, head) as path:
        # The source holds the file open, so that its name may go already.
        return open_file(path, channel, name=name)


def open_raw_pipe(
    stream: BufferedIOBase, layout: PcmLayout, channel: ChannelChoice = "mix", *, name: str = "standard input"
) -> AudioSource:
    """Samples without a header, as they arrive."""
    return PcmSource(stream, name, layout, channel)


@contextmanager
def spooled(stream: BufferedIOBase, name: str, head: bytes = b"") -> Iterator[Path]:
    """Copy ``head`` and the rest of a stream into a temporary file, which is gone when the block ends.

    Raises:
        AudioUnreadable: The stream is longer than ``MAX_SPOOL_BYTES``.
        MachineError: No temporary file can be written.
    """
    with _temporary_file(name) as file:
        _copy(stream, file, name, head)
        yield Path(file.name)


@contextmanager
def _temporary_file(name: str) -> Iterator[IO[bytes]]:
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="edge-asr-"))
        except OSError as error:
            raise MachineError(_no_room(name, error)) from error
        yield file


def _copy(stream: BufferedIOBase, file: IO[bytes], name: str, head: bytes) -> None:
    copied = 0
    data = head or stream.read1(_COPY_BYTES)
    while data:
        copied += len(data)
        if copied > MAX_SPOOL_BYTES:
            raise AudioUnreadable(
                name, f"it is longer than {MAX_SPOOL_BYTES >> 20} MiB; save it as a file and name the file"
            )
        try:
            file.write(data)
        except OSError as error:
            raise MachineError(_no_room(name, error)) from error
        data = stream.read1(_COPY_BYTES)
    file.flush()


def _no_room(name: str, error: OSError) -> str:
    return f"{name} needs a temporary file: {error.strerror or error}; set TMPDIR to a directory with room"
