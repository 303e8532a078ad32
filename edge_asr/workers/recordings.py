"""Uploaded files as audio of a session: opened in the worker, block by block, at the session's rate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.requests import SessionOptions
from edge_asr.sources.base import AudioSource, numbered
from edge_asr.sources.file import open_file
from edge_asr.sources.resample import StreamResampler

_NAME = "recording"
"""What error sentences call it: the path is where the front spooled it, and none of the client's business."""


def open_recording(path: str, options: SessionOptions) -> Iterator[AudioChunk]:
    """The chunks of a recording at ``options.sample_rate_hz``, of the channel that the options name.

    Raises:
        AudioUnreadable: It is damaged, empty or no audio.
        AudioUnsupported: Nothing installed here decodes it.
    """
    with closing(open_file(Path(path), options.channel, name=_NAME)) as source:
        yield from numbered(_resampled(source, options.sample_rate_hz), options.sample_rate_hz)


def _resampled(source: AudioSource, rate_hz: int) -> Iterator[Float32Array]:
    resampler = StreamResampler(source.sample_rate_hz, rate_hz)
    for chunk in source:
        yield resampler.process(chunk.samples)
    yield resampler.flush()
