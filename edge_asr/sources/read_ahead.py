"""A recording read ahead on a thread of its own: blocks wait in a short queue, so that hours cost no memory."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, Full, Queue

from edge_asr.audio import AudioChunk
from edge_asr.errors import AudioUnreadable, EdgeAsrError, LimitExceeded

logger = logging.getLogger(__name__)

QUEUED_CHUNKS = 8
STOP_CHECK_S = 0.2


def skipped(chunks: Iterable[AudioChunk], seconds: float) -> Iterator[AudioChunk]:
    """The chunks without the first so many seconds."""
    for chunk in chunks:
        position = round(seconds * chunk.sample_rate_hz)
        behind = position - chunk.start_sample
        if behind <= 0:
            yield chunk
        elif behind < len(chunk.samples):
            yield AudioChunk(chunk.samples[behind:], chunk.sample_rate_hz, position, chunk.captured_ns)


class RecordingReader:
    """Reads a source on its own thread.

    ``take`` never blocks. The end of the recording and a failure are different values: ``is_finished`` is true after
    either, ``error`` tells them apart.
    """

    def __init__(
        self, open_source: Callable[[], Iterable[AudioChunk]], max_duration_s: float, wake: Callable[[], None]
    ) -> None:
        self.error: EdgeAsrError | None = None
        self._open_source = open_source
        self._max_duration_s = max_duration_s
        self._wake = wake
        self._chunks: Queue[AudioChunk] = Queue(QUEUED_CHUNKS)
        self._stop = threading.Event()
        self._has_read_all = threading.Event()
        self._thread = threading.Thread(target=self._read, name="recording", daemon=True)
        self._thread.start()

    @property
    def is_finished(self) -> bool:
        """Nothing is left to take."""
        return self._has_read_all.is_set() and self._chunks.empty()

    def take(self) -> AudioChunk | None:
        """The next chunk if one is there."""
        try:
            return self._chunks.get_nowait()
        except Empty:
            return None

    def stop(self) -> None:
        """Give up reading; the thread ends soon after."""
        self._stop.set()

    def _read(self) -> None:
        try:
            self._read_all()
        except EdgeAsrError as error:
            self.error = error
        except Exception as error:  # the top of a thread: a fault must not look like the end of the recording
            logger.exception("reading a recording failed")
            self.error = AudioUnreadable("recording", f"reading it failed: {error!r}")
        finally:
            self._has_read_all.set()
            self._wake()

    def _read_all(self) -> None:
        read_s = 0.0
        for chunk in self._open_source():
            read_s += chunk.duration_s
            if read_s > self._max_duration_s:
                raise LimitExceeded(
                    "max_upload_s", f"a recording of more than {read_s:.0f} s", f"{self._max_duration_s:.0f} s"
                )
            if not self._put(chunk):
                return
            self._wake()

    def _put(self, chunk: AudioChunk) -> bool:
        while not self._stop.is_set():
            try:
                self._chunks.put(chunk, timeout=STOP_CHECK_S)
            except Full:
                continue
            return True
        return False
