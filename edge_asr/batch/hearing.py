"""A worker's work: the model is loaded once, then one recording after the other. Blocking."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

from edge_asr.audio import AudioChunk
from edge_asr.batch.messages import Done, Heard, Order, Task, Unusable
from edge_asr.clock import MonotonicClock
from edge_asr.errors import AudioUnreadable, EdgeAsrError, InputError, SessionError
from edge_asr.filenames import from_text, readable
from edge_asr.requests import Channel, SessionOptions
from edge_asr.sources.base import AudioSource
from edge_asr.sources.pcm import PcmLayout, parse_layout
from edge_asr.sources.recording import open_each_channel, open_recording
from edge_asr.transcription import transcribe
from edge_asr.workers.configuration import unpack
from edge_asr.workers.inline_loop import inline_loop
from edge_asr.workers.loaded_model import LoadedModel
from edge_asr.workers.loading import load_model
from edge_asr.workers.messages import Configure

_OPTIONS = SessionOptions(partials=False, is_batch=True)


def _at_once() -> None:
    """Nobody wants to know that we are still at it."""


class Hearer:
    """A loaded model, and what recordings of this batch are to be heard with."""

    def __init__(self, order: Order, load: Callable[[Configure], LoadedModel] = load_model) -> None:
        """Load the model.

        Args:
            order: Model and settings.
            load: Replaced by tests.

        Raises:
            EdgeAsrError: It cannot be loaded.
        """
        loaded = load(order.configure)
        self._channel = order.channel
        self._layout = parse_layout(order.raw) if order.raw else None
        self._clock = MonotonicClock()
        self._loop = inline_loop(loaded, unpack(order.configure), self._clock)

    def hear(self, task: Task, on_chunk: Callable[[], None] = _at_once) -> Done | Unusable:
        """All wanted channels of one recording; ``on_chunk`` is called for each half second of audio or so."""
        path = from_text(task.path)
        try:
            return Done(task.number, tuple(self._channels(Path(path), on_chunk)))
        except (InputError, SessionError) as error:
            return Unusable(task.number, error.code, _sentence(path, error))

    def _channels(self, path: Path, on_chunk: Callable[[], None]) -> Iterator[Heard]:
        for name, source in open_channels(path, self._channel, self._layout):
            with closing(source):
                transcript = transcribe(self._loop, _told(source, on_chunk), _OPTIONS, self._clock)
                yield Heard(
                    name, transcript.finals, transcript.audio_s, transcript.rtf, (*source.warnings, *transcript.remarks)
                )


def open_channels(
    path: Path, channel: Channel | Literal["each"], layout: PcmLayout | None = None
) -> Iterator[tuple[str, AudioSource]]:
    """The sources of one file; whoever takes one closes it before taking the next.

    Args:
        path: Of the recording.
        channel: Which channel; ``each`` gives one source per channel.
        layout: How samples without a header are written; ``None`` where the file says it itself.

    Yields:
        The channel's name (empty unless ``each``) and the source.

    Raises:
        InputError: It is missing or cannot be read.
    """
    _require_file(path)
    if channel != "each":
        yield "", open_recording(path, channel, layout)
    else:
        yield from open_each_channel(path, layout)


def _require_file(path: Path) -> None:
    """Refuse what has no end, or waits for somebody to write: a worker would hang there."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # whoever opens it says why
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise AudioUnreadable(path, "is a pipe or a device, and a batch hears files only")


def _told(source: AudioSource, on_chunk: Callable[[], None]) -> Iterator[AudioChunk]:
    for chunk in source:
        yield chunk
        on_chunk()


def _sentence(path: str, error: EdgeAsrError) -> str:
    sentence = str(error)
    return readable(sentence if path in sentence else f"{path}: {sentence}")
