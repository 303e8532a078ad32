"""What a FILE argument means: a file, standard input, a named pipe; one channel of it or each by itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Literal, cast

from edge_asr.errors import AudioUnreadable, ConfigurationError
from edge_asr.requests import Channel
from edge_asr.sources.base import AudioSource
from edge_asr.sources.channels import ChannelChoice, channel_name
from edge_asr.sources.file import open_file, open_raw_file
from edge_asr.sources.pcm import PcmLayout
from edge_asr.sources.pipe import open_pipe, open_raw_pipe, spooled

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
        name = _name(file)
        first = _open_file(path, 0, layout, name)
        channels = first.channels
        yield channel_name(0, channels), first
        for index in range(1, channels):
            yield channel_name(index, channels), _open_file(path, index, layout, name)


def _open_once(file: str, channel: ChannelChoice, layout: PcmLayout | None) -> AudioSource:
    if not _is_pipe(file):
        return _open_file(Path(file), channel, layout, _name(file))
    stream = _pipe(file)
    if layout is not None:
        return open_raw_pipe(stream, layout, channel, name=_name(file))
    return open_pipe(stream, channel, name=_name(file))


def _open_file(path: Path, channel: ChannelChoice, layout: PcmLayout | None, name: str) -> AudioSource:
    if layout is not None:
        return open_raw_file(path, layout, channel, name=name)
    return open_file(path, channel, name=name)


@contextmanager
def _readable_again(file: str) -> Iterator[Path]:
    """A path that can be opened once per channel; a pipe is copied into a temporary file for that."""
    if not _is_pipe(file):
        yield Path(file)
        return
    with _pipe(file) as stream, spooled(stream, _name(file)) as path:
        yield path


def _is_pipe(file: str) -> bool:
    path = Path(file)
    return file == STANDARD_INPUT or path.is_fifo() or path.is_char_device() or path.is_socket()


def _pipe(file: str) -> BufferedReader:
    if file != STANDARD_INPUT:
        try:
            return Path(file).open("rb")
        except OSError as error:
            raise AudioUnreadable(file, f"cannot be read: {error.strerror}") from error
    if sys.stdin is None or sys.stdin.isatty():
        raise ConfigurationError("`-` reads a recording from standard input, which is a terminal; pipe one into it")
    return cast("BufferedReader", sys.stdin.buffer)


def _name(file: str) -> str:
    return "standard input" if file == STANDARD_INPUT else file
