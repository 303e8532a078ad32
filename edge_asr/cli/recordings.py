"""What a FILE argument means: a file, standard input, a named pipe; one channel of it or each by itself."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Literal, cast

from edge_asr.errors import AudioUnreadable, ConfigurationError
from edge_asr.requests import Channel
from edge_asr.sources.base import AudioSource
from edge_asr.sources.channels import ChannelChoice
from edge_asr.sources.pcm import PcmLayout
from edge_asr.sources.pipe import open_pipe, open_raw_pipe, spooled
from edge_asr.sources.recording import open_each_channel, open_recording

STANDARD_INPUT = "-"


def open_recordings(
    file: str, channel: Channel | Literal["each"], layout: PcmLayout | None
) -> Iterator[tuple[str, AudioSource]]:
    """The sources of one FILE argument; whoever takes one closes it before taking the next.

    Args:
        file: A path, or ``-`` for standard input.
        channel: Which channel; ``each`` gives one source per channel.
        layout: How samples without a header are written; ``None`` where the file says it itself.

    Yields:
        The channel's name (empty unless ``each``) and the source.

    Raises:
        InputError: It is missing or cannot be read.
        ConfigurationError: Standard input is a terminal.
    """
    if channel != "each":
        yield "", _open_once(file, channel, layout)
        return
    with _readable_again(file) as path:
        yield from open_each_channel(path, layout, name=_name(file))


def _open_once(file: str, channel: ChannelChoice, layout: PcmLayout | None) -> AudioSource:
    if (path := _regular_file(file)) is not None:
        return open_recording(path, channel, layout, name=_name(file))
    stream = _pipe(file)
    if layout is not None:
        return open_raw_pipe(stream, layout, channel, name=_name(file))
    return open_pipe(stream, channel, name=_name(file))


@contextmanager
def _readable_again(file: str) -> Iterator[Path]:
    """A path that can be opened once per channel; a pipe is copied into a temporary file for that."""
    if (path := _regular_file(file)) is not None:
        yield path
        return
    with _pipe(file) as stream, spooled(stream, _name(file)) as path:
        yield path


def _regular_file(file: str) -> Path | None:
    """The path by which a file can be opened again and again; ``None`` for what can be read only once, as it comes."""
    if file == STANDARD_INPUT:
        # By our number and not as "self", since ffmpeg opens it too.
        return Path(f"/proc/{os.getpid()}/fd/0") if _is_redirected_file() else None
    path = Path(file)
    return None if path.is_fifo() or path.is_char_device() or path.is_socket() else path


def _is_redirected_file() -> bool:
    """Whether standard input is a file from its beginning, as in ``edge-asr transcribe - < talk.flac``."""
    try:
        descriptor = sys.stdin.fileno()
        return stat.S_ISREG(os.fstat(descriptor).st_mode) and os.lseek(descriptor, 0, os.SEEK_CUR) == 0
    except (AttributeError, OSError, ValueError):  # there is no standard input, or it was replaced by no file
        return False


def _pipe(file: str) -> BufferedReader:
    if file != STANDARD_INPUT:
        try:
            return Path(file).open("rb")
        except OSError as error:
            raise AudioUnreadable(file, f"cannot be read: {error.strerror}") from error
    if sys.stdin is None or sys.stdin.isatty():
        raise ConfigurationError(
            "`-` reads a recording from standard input, which is a terminal or closed; pipe one into it"
        )
    return cast("BufferedReader", sys.stdin.buffer)


def _name(file: str) -> str:
    return "standard input" if file == STANDARD_INPUT else file
