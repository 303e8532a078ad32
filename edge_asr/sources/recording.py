"""A file with a recording, with a header or without one; each of its channels by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from edge_asr.sources.base import AudioSource
from edge_asr.sources.channels import ChannelChoice, channel_name
from edge_asr.sources.file import open_file, open_raw_file
from edge_asr.sources.pcm import PcmLayout


def open_recording(path: Path, channel: ChannelChoice, layout: PcmLayout | None, *, name: str = "") -> AudioSource:
    """Open a recording.

    Args:
        path: A regular file.
        channel: Which of its channels.
        layout: How samples without a header are written; ``None`` where the file says it itself.
        name: What error sentences call it; the path when empty.

    Raises:
        InputError: It is missing or cannot be read.
    """
    if layout is not None:
        return open_raw_file(path, layout, channel, name=name)
    return open_file(path, channel, name=name)


def open_each_channel(path: Path, layout: PcmLayout | None, *, name: str = "") -> Iterator[tuple[str, AudioSource]]:
    """The channels of a recording; whoever takes one closes it before taking the next.

    Args:
        path: A regular file.
        layout: How samples without a header are written; ``None`` where the file says it itself.
        name: What error sentences call it; the path when empty.

    Yields:
        The channel's name and the source.

    Raises:
        InputError: It is missing or cannot be read.
    """
    first = open_recording(path, 0, layout, name=name)
    channels = first.channels
    yield channel_name(0, channels), first
    for index in range(1, channels):
        yield channel_name(index, channels), open_recording(path, index, layout, name=name)
