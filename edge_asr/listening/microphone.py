"""The microphone as a client of the recogniser: it is opened again when it is lost, and its session with it. Asyncio.

Two tasks. One reads what is recorded, whatever the recogniser does meanwhile; one passes it on to a session, opens that
when there is audio and a recogniser that takes it, and finishes it when the microphone is lost, so that what was said
becomes a final. Nothing that happens to the microphone concerns other sessions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, assert_never

from edge_asr.errors import SessionError
from edge_asr.events import Failed, Notice, SessionEnded
from edge_asr.listening.backlog import Backlog, as_bytes, start_ns
from edge_asr.listening.capture import Capture, refusal
from edge_asr.listening.messages import (
    SAMPLE_RATE_HZ,
    Captured,
    FromCapture,
    Lost,
    MicrophoneEvent,
    MicrophoneLevel,
    MicrophoneState,
    Opened,
    Refused,
    State,
    Waiting,
)
from edge_asr.listening.timeline import SessionTimeline, Timeline
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import SessionOptions
from edge_asr.workers.base import Recognizer, RecognizerSession

PROTOCOL = "microphone"
"""Stands where other sessions have the name of their protocol, in logs and metrics."""

RETRY_S = 1.0
"""Between attempts to open a session that was refused, or to start a recording process that ended at once."""

LOOK_AGAIN_S = 0.1
"""Between looks at a recogniser that takes no sessions yet."""

LAST_WORDS_S = 2.0
"""How long a session whose microphone is lost may take for its last final before the next one is opened."""

_logger = logging.getLogger(__name__)


class Microphone:
    """From :meth:`run` to :meth:`stop`.

    Args:
        start_capture: Starts recording.
        recognizer: Where sessions are opened.
        hear: Called in the event loop with everything that happens; must not block.
        instruments: Where losses are counted.
        language: BCP 47 tag, or empty for the model's own.
    """

    def __init__(
        self,
        start_capture: Callable[[], Awaitable[Capture]],
        recognizer: Recognizer,
        hear: Callable[[MicrophoneEvent], None],
        instruments: Instruments,
        language: str = "",
    ) -> None:
        self._start_capture = start_capture
        self._recognizer = recognizer
        self._hear = hear
        self._instruments = instruments
        self._options = SessionOptions(sample_rate_hz=SAMPLE_RATE_HZ, is_live=True, language=language)
        self.state = MicrophoneState("starting", "", "the microphone is being opened")
        self._device = ""
        self._is_open = False
        self._was_open = False
        self._is_silent = False
        self._timeline = Timeline()
        self._backlog = Backlog()
        self._has_work = asyncio.Event()
        self._stopping = asyncio.Event()
        self._has_failed = False
        self._session: RecognizerSession | None = None
        self._delivering: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Listen until :meth:`stop`; returns when the last final is delivered.

        Raises:
            ConfigurationError: The device's name does not say which one is meant.
            MachineError: It cannot be used, and waiting would not help.
        """
        recording = asyncio.create_task(self._record())
        passing_on = asyncio.create_task(self._pass_on())
        stopping = asyncio.create_task(self._stopping.wait())
        tasks: set[asyncio.Task[Any]] = {recording, passing_on, stopping}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in (recording, passing_on):
                if task.done():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._pass_on_the_rest()
            await self._finish_session(None)
            self._instruments.microphone_is_open(self._device, is_open=False)
            self._say("stopped", "the microphone is closed")

    def stop(self) -> None:
        """Say what is left and end."""
        self._stopping.set()

    # Recording

    async def _record(self) -> None:
        while True:
            capture = await self._start_capture()
            try:
                async for message in capture.messages():
                    self._take(message)
            finally:
                await capture.close()
            if not self._was_open:
                await asyncio.sleep(RETRY_S)  # it ended before it had opened anything
            self._was_open = False

    def _take(self, message: FromCapture) -> None:
        match message:
            case Waiting():
                self._wait_for_device(message.reason)
            case Opened():
                self._device = message.device
                self._was_open = True
                _logger.info(
                    "recording from %s: %d Hz, channels: %d", message.device, message.sample_rate_hz, message.channels
                )
            case Captured():
                self._take_audio(message)
            case Lost():
                self._lose(message.reason)
            case Refused():
                raise refusal(message)
            case _:
                assert_never(message)

    def _wait_for_device(self, reason: str) -> None:
        if self.state.state == "starting":
            _logger.warning("the microphone cannot be opened yet: %s", reason)
            self._say("waiting", reason)

    def _take_audio(self, piece: Captured) -> None:
        if not self._is_open:
            self._is_open = True
            self._announce_open()
        self._instruments.microphone_heard(self._device, piece.overruns, piece.gap_samples / SAMPLE_RATE_HZ)
        if piece.gap_samples:
            message = f"{piece.gap_samples / SAMPLE_RATE_HZ:.2f} s of audio were lost by the sound device"
            self._hear(Notice(self._session_id, "audio_dropped", message, piece.gap_samples))
        if piece.is_silent != self._is_silent:
            self._is_silent = piece.is_silent
            silent = "it delivers nothing but zeros: it is muted, or nothing is plugged in"
            self._say("silent" if piece.is_silent else "sound", silent if piece.is_silent else "there is sound again")
        self._timeline.position_s(start_ns(piece))
        position_s = self._timeline.position_s(piece.captured_ns)
        self._hear(MicrophoneLevel(piece.peak_dbfs, piece.rms_dbfs, position_s, piece.captured_ns))
        self._backlog.put(piece)
        self._has_work.set()

    def _announce_open(self) -> None:
        self._instruments.microphone_is_open(self._device, is_open=True)
        if self.state.state == "lost":
            _logger.warning("the microphone %s is back", self._device)
            self._say("back", "the microphone is back")
        else:
            self._say("listening", "the microphone is open")

    def _lose(self, reason: str) -> None:
        if not self._is_open:
            self._wait_for_device(reason)
            return
        self._is_open = self._is_silent = False
        _logger.warning("the microphone %s is lost: %s; waiting for it", self._device, reason)
        self._instruments.microphone_is_open(self._device, is_open=False)
        self._instruments.microphone_lost(self._device)
        self._say("lost", f"the microphone is lost: {reason}")
        self._backlog.end()
        self._has_work.set()

    def _say(self, state: State, message: str) -> None:
        self.state = MicrophoneState(state, self._device, message)
        self._hear(self.state)

    # Passing on

    async def _pass_on(self) -> None:
        while True:
            await self._has_work.wait()
            if self._delivering is not None and self._delivering.done():
                self._delivering.result()  # whoever hears the events may have failed
            if not self._backlog:
                self._has_work.clear()
            elif self._backlog.is_at_end:
                self._backlog.pass_end()
                await self._finish_session(LAST_WORDS_S)
            elif self._session is not None:
                await self._session.send(as_bytes(self._backlog.take(), is_first=False))
            else:
                await self._open_session()

    async def _open_session(self) -> None:
        """Open one, or wait a moment, while audio piles up."""
        status = self._recognizer.status()
        if not status.takes_sessions or status.sessions >= status.max_sessions:
            await asyncio.sleep(LOOK_AGAIN_S)
            return
        if self._has_failed:
            self._has_failed = False
            await asyncio.sleep(RETRY_S)
        try:
            session = await self._recognizer.open(self._options, protocol=PROTOCOL)
        except SessionError as error:
            _logger.warning("the microphone has no session: %s", error)
            self._has_failed = True
            return
        self._session = session
        piece = self._backlog.take()
        timeline = self._timeline.begin_session(start_ns(piece))
        self._delivering = asyncio.create_task(self._deliver(session, timeline))
        await session.send(as_bytes(piece, is_first=True))

    async def _pass_on_the_rest(self) -> None:
        """What was recorded up to the end."""
        while self._session is not None and self._backlog and not self._backlog.is_at_end:
            await self._session.send(as_bytes(self._backlog.take(), is_first=False))

    async def _deliver(self, session: RecognizerSession, timeline: SessionTimeline) -> None:
        async for event in session.events():
            if isinstance(event, SessionEnded | Failed) and self._session is session:
                self._session = None  # the next audio opens another one
                self._has_failed = isinstance(event, Failed)
            self._hear(timeline.shifted(event))

    async def _finish_session(self, patience_s: float | None) -> None:
        """Let the session say its last words; wait for them for so long, or as long as it takes."""
        session, delivering = self._session, self._delivering
        self._session = None
        if session is None or delivering is None:
            return
        await session.finish()
        await asyncio.wait({delivering}, timeout=patience_s)
        if delivering.done():
            session.cancel()  # nothing new where it has ended; it has not where whoever hears the events has failed
            delivering.result()

    @property
    def _session_id(self) -> str:
        return self._session.session_id if self._session is not None else ""
