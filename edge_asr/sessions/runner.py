"""The decode thread: a thread-safe front for the :class:`DecodeLoop`.

Any thread may call the methods; commands are carried out in order on the decode thread, and everything a session says
goes to ``sink`` from there. The runner is the one place where sessions meet a thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue

from edge_asr.audio import AudioChunk
from edge_asr.errors import EdgeAsrError, EngineFailed
from edge_asr.events import Failed, Final, TranscriptEvent
from edge_asr.requests import Resume, SessionOptions
from edge_asr.sessions.credit import CREDIT_STEP_S, Credit
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.loop_figures import Progress
from edge_asr.sources.read_ahead import RecordingReader, skipped

_log = logging.getLogger(__name__)

Command = Callable[[], None]


class Runner:
    """Owns the decode thread.

    Args:
        loop: Touched by the decode thread only, from :meth:`start` on.
        sink: Receives events other than finals; called on the decode thread, must not block for long.
        settle: Receives how far a session's audio is done with, and the finals it gave up to there.
        credit: Receives a session's name and how it stands with its audio, as that is consumed, and whenever its sender
            may wait longer than before until it passes on more, or no longer; not for a recording, which nobody sends.
        open_recording: Opens the source of an uploaded file, by path; its chunks have the rate of the options.
        on_death: Called when the decode thread ends because of a fault of the program.
        on_said: Called when everything is said that there was to say for now; on the decode thread.
    """

    def __init__(
        self,
        loop: DecodeLoop,
        *,
        sink: Callable[[TranscriptEvent], None],
        settle: Callable[[str, Progress, tuple[Final, ...]], None],
        credit: Callable[[str, Credit], None],
        open_recording: Callable[[str, SessionOptions], Iterable[AudioChunk]],
        on_death: Callable[[BaseException], None],
        on_said: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._sink = sink
        self._settle = settle
        self._credit = credit
        self._open_recording = open_recording
        self._on_death = on_death
        self._on_said = on_said
        self._commands: SimpleQueue[Command | None] = SimpleQueue()
        self._recordings: dict[str, RecordingReader] = {}
        self._credited: dict[str, Credit] = {}
        self._options: dict[str, SessionOptions] = {}
        self._thread = threading.Thread(target=self._run, name="decode", daemon=True)

    # Called from any thread.

    def start(self) -> None:
        """Start the decode thread."""
        self._thread.start()

    def stop(self) -> None:
        """Carry out what was asked so far, then end the thread; waits for it."""
        self._commands.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def open(self, session_id: str, options: SessionOptions, resume: Resume | None = None) -> None:
        """Begin a session, or go on with one that another worker had."""
        self._commands.put(lambda: self._open(session_id, options, resume))

    def trust(self, session_id: str) -> None:
        """The session may be decoded together with others again."""
        self._commands.put(lambda: self._loop.trust(session_id))

    def audio(self, session_id: str, data: bytes) -> None:
        """Audio as the client wrote it."""
        self._commands.put(lambda: self._loop.feed_bytes(session_id, data))

    def recording(self, session_id: str, path: str, max_duration_s: float, from_s: float = 0.0) -> None:
        """Read the session's audio from a file, from a position on, then finish it."""
        self._commands.put(lambda: self._start_recording(session_id, path, max_duration_s, from_s))

    def flush(self, session_id: str) -> None:
        """Close the open segment."""
        self._commands.put(lambda: self._loop.flush(session_id))

    def finish(self, session_id: str) -> None:
        """No more audio."""
        self._commands.put(lambda: self._loop.finish(session_id))

    def cancel(self, session_id: str) -> None:
        """The client is gone."""
        self._commands.put(lambda: self._cancel(session_id))

    def wake(self) -> None:
        """Look at the sessions again: something they wait for has come."""
        self._commands.put(_nothing)

    def ask(self, question: Callable[[DecodeLoop], None]) -> None:
        """Let the decode thread call ``question`` with the loop, for figures."""
        self._commands.put(lambda: question(self._loop))

    # The decode thread.

    def _run(self) -> None:
        try:
            is_busy = False
            while self._carry_out(self._loop.wait_s if not is_busy else 0.0):
                self._read_recordings()
                is_busy = self._loop.step()
                self._deliver()
                self._on_said()
            self._on_said()
        except BaseException as error:  # noqa: BLE001  the top of a thread: whoever watches must hear of it
            _log.exception("the decode thread ended")
            self._on_death(error)

    def _carry_out(self, wait_s: float | None) -> bool:
        """Carry out everything asked so far; ``False`` when the thread is to end.

        Args:
            wait_s: For a first command; ``None``: as long as it takes.
        """
        try:
            command = self._commands.get(timeout=wait_s) if wait_s != 0.0 else self._commands.get_nowait()
            while command is not None:
                command()
                command = self._commands.get_nowait()
        except Empty:
            return True
        return False

    def _open(self, session_id: str, options: SessionOptions, resume: Resume | None) -> None:
        try:
            self._loop.open(session_id, options, resume)
        except EdgeAsrError as error:
            self._sink(Failed(session_id, error.code, str(error), error.is_retryable))
        except ValueError as error:
            failure = EngineFailed(str(error))
            self._sink(Failed(session_id, failure.code, str(failure), failure.is_retryable))
        else:
            self._credited[session_id] = Credit()
            self._options[session_id] = options

    def _cancel(self, session_id: str) -> None:
        self._loop.cancel(session_id)
        self._forget(session_id)

    def _start_recording(self, session_id: str, path: str, max_duration_s: float, from_s: float) -> None:
        if session_id in self._loop:
            options = self._options[session_id]
            self._credited.pop(session_id, None)  # nobody sends its audio
            self._recordings[session_id] = RecordingReader(
                lambda: skipped(self._open_recording(path, options), from_s), max_duration_s, wake=self.wake
            )

    def _read_recordings(self) -> None:
        for session_id, reader in list(self._recordings.items()):
            while self._loop.demand_s(session_id) > 0 and (chunk := reader.take()) is not None:
                self._loop.feed(session_id, chunk)
            if reader.is_finished:
                del self._recordings[session_id]
                if reader.error is not None:
                    self._loop.fail(session_id, reader.error)
                else:
                    self._loop.finish(session_id)

    def _deliver(self) -> None:
        events, progress = self._loop.take_events(), self._loop.take_progress()
        finals = [event for event in events if isinstance(event, Final)]
        for event in events:
            if not isinstance(event, Final):
                self._sink(event)
            elif event is _last_of(finals, event.session_id):
                own = tuple(final for final in finals if final.session_id == event.session_id)
                self._settle(event.session_id, progress.pop(event.session_id), own)
        for session_id, settled in progress.items():
            self._settle(session_id, settled, ())  # silence: nothing was said, and nothing need be kept
        for session_id in self._loop.take_touched():
            self._give_credit_to(session_id)

    def _give_credit_to(self, session_id: str) -> None:
        if session_id not in self._loop:
            self._forget(session_id)
            return
        if session_id not in self._credited:
            return
        credit = self._loop.credit(session_id)
        step_bytes = CREDIT_STEP_S * self._options[session_id].bytes_per_second
        if credit.is_news(self._credited[session_id], step_bytes):
            self._credited[session_id] = credit
            self._credit(session_id, credit)

    def _forget(self, session_id: str) -> None:
        self._credited.pop(session_id, None)
        self._options.pop(session_id, None)
        reader = self._recordings.pop(session_id, None)
        if reader is not None:
            reader.stop()


def _last_of(finals: Sequence[Final], session_id: str) -> Final:
    return next(final for final in reversed(finals) if final.session_id == session_id)


def _nothing() -> None:
    """A command that only wakes the thread."""
