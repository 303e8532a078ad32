"""The microphone of the daemon: it, and whoever reads along. Asyncio."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from edge_asr.errors import EdgeAsrError
from edge_asr.listening.capture import CaptureProcess
from edge_asr.listening.device_choice import check_name
from edge_asr.listening.feed import Feed
from edge_asr.listening.messages import MicrophoneState
from edge_asr.listening.microphone import Microphone
from edge_asr.metrics.instruments import Instruments
from edge_asr.settings import MicrophoneSettings
from edge_asr.workers.base import Recognizer

_logger = logging.getLogger(__name__)


class Listening:
    """From :meth:`start` to :meth:`close`.

    Args:
        settings: Which device.
        recognizer: Where its sessions are opened.
        instruments: Where its losses are counted.

    Raises:
        ConfigurationError: The device is named by a number.
    """

    def __init__(self, settings: MicrophoneSettings, recognizer: Recognizer, instruments: Instruments) -> None:
        check_name(settings.device)
        self.feed = Feed(lambda: self.state)
        self.failure: EdgeAsrError | None = None
        """Why it could never be opened here."""
        self._microphone = Microphone(lambda: CaptureProcess.start(settings), recognizer, self.feed.put, instruments)
        self._running: asyncio.Task[None] | None = None

    @property
    def state(self) -> MicrophoneState:
        """What it is doing."""
        return self._microphone.state

    def start(self, on_failure: Callable[[], None]) -> None:
        """Open the microphone; a device that is not there is waited for.

        Args:
            on_failure: Called when it can never be opened here, with the reason in ``failure``.
        """
        self._running = asyncio.create_task(self._run(on_failure))

    async def close(self, drain_s: float) -> None:
        """Let it say its last words, for so long."""
        if self._running is None:
            return
        self._microphone.stop()
        await asyncio.wait({self._running}, timeout=drain_s)
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)
        self.feed.close()

    async def _run(self, on_failure: Callable[[], None]) -> None:
        try:
            await self._microphone.run()
        except EdgeAsrError as error:
            self.failure = error
            on_failure()
        except Exception:
            _logger.exception("the microphone fails; the daemon goes on without it")
