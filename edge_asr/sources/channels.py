"""One channel out of several."""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.requests import Channel

ChannelChoice = Channel | int
"""``mix`` of all, ``left``, ``right``, or a channel by its index from 0."""

_INDEX = {"left": 0, "right": 1}


def select_channel(frames: Float32Array, channel: ChannelChoice) -> Float32Array:
    """Reduce a recording to one channel.

    Args:
        frames: Shape (samples, channels), at least one channel.
        channel: A choice beyond the last channel means the last one, so that ``right`` of a mono recording is it.

    Returns:
        Mono PCM, shape (samples,), in memory of its own layout (C-contiguous).
    """
    count = frames.shape[1]
    if channel == "mix" and count > 1:
        return _mean(frames)
    index = channel if isinstance(channel, int) else _INDEX.get(channel, 0)
    return np.ascontiguousarray(frames[:, min(index, count - 1)])


def channel_name(index: int, channels: int) -> str:
    """How channel ``index`` (from 0) of a recording is called in results: left and right, or its number from 1."""
    if channels == 1:
        return "mono"
    return ("left", "right")[index] if channels == 2 else str(index + 1)


def _mean(frames: Float32Array) -> Float32Array:
    # Adding columns is several times faster than numpy's mean over a short axis.
    mixed = frames[:, 0].copy()
    for index in range(1, frames.shape[1]):
        mixed += frames[:, index]
    mixed /= np.float32(frames.shape[1])
    return mixed
