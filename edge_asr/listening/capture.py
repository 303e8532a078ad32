"""The recording process, seen from the front: started, read, and ended. Asyncio, no numpy."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from typing import Protocol

from edge_asr.clock import MonotonicClock
from edge_asr.errors import ConfigurationError, DeviceNameUnclear, DeviceUnavailable, EdgeAsrError, MachineError
from edge_asr.listening.messages import Captured, FromCapture, Lost, Opened, Refused
from edge_asr.settings import MicrophoneSettings
from edge_asr.workers.command import worker_environment
from edge_asr.workers.exits import describe_exit
from edge_asr.workers.messages import MessageDecoder
from edge_asr.workers.stderr_log import StderrLog

SILENCE_S = 30.0
"""A recording process that says nothing for so long hangs: while it waits for a device it says so every few seconds,
and asking every device of a machine may take a while."""

RECORDING_SILENCE_S = 5.0
"""The same of one that has delivered audio: it would say after two seconds that no more comes."""

_READ_BYTES = 64 << 10

_logger = logging.getLogger(__name__)


class Capture(Protocol):
    """Something that records."""

    def messages(self) -> AsyncIterator[FromCapture]:
        """What it says, to its end; the last one is ``Lost`` or ``Refused``. Read once."""
        ...

    async def close(self) -> None:
        """End it now; allowed at any time."""
        ...


class CaptureProcess:
    """A recording process; made by :meth:`start`."""

    def __init__(self, process: Process, *, must_exist: bool = False) -> None:
        self._process = process
        self._must_exist = must_exist
        self._patience_s = SILENCE_S
        self._stderr = StderrLog(_logger, "recording", MonotonicClock())

    @classmethod
    async def start(cls, settings: MicrophoneSettings, *, must_exist: bool = False) -> CaptureProcess:
        """Start it.

        Args:
            settings: Which device, and which of its channels.
            must_exist: Give up, instead of waiting, when the device cannot be opened.

        Raises:
            MachineError: The system cannot start another process.
        """
        words = ["--device", "" if settings.device == "default" else settings.device, "--channel", settings.channel]
        try:
            process = await asyncio.create_subprocess_exec(
                *capture_command(*words, *(["--must-exist"] if must_exist else [])),
                env=worker_environment(os.environ, malloc_arenas=1),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
            )
        except OSError as error:
            raise MachineError(f"recording cannot be started: {error.strerror}") from error
        return cls(process, must_exist=must_exist)

    async def messages(self) -> AsyncIterator[FromCapture]:
        """What it says, to its end; the last one is ``Lost`` or ``Refused``."""
        decoder = MessageDecoder(FromCapture)
        reading_stderr = asyncio.create_task(self._read_stderr())
        try:
            while data := await self._read():
                for message in decoder.feed(data):
                    if isinstance(message, Opened):
                        self._must_exist = False
                    if isinstance(message, Captured):
                        self._patience_s = RECORDING_SILENCE_S
                    yield message
                    if isinstance(message, Lost):
                        return
            returncode = await self._process.wait()
            await reading_stderr
            if returncode:
                yield self._broken(
                    f"the process that records ended: {describe_exit(returncode, self._stderr.last_words)}"
                )
        except TimeoutError:
            yield self._broken(f"the process that records has said nothing for {self._patience_s:g} s")
        finally:
            reading_stderr.cancel()
            await asyncio.gather(reading_stderr, return_exceptions=True)
            await self.close()

    async def close(self) -> None:
        """End it now: it has nothing to tidy up, and closing a device that is gone may hang."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    def _broken(self, reason: str) -> Lost | Refused:
        """Where the device must be there now, a sound library that fails before it is open is no device to wait for."""
        return Refused(DeviceUnavailable.code, reason) if self._must_exist else Lost(reason)

    async def _read(self) -> bytes:
        if self._process.stdout is None:
            raise RuntimeError("the recording process was started without a pipe")
        async with asyncio.timeout(self._patience_s):
            return await self._process.stdout.read(_READ_BYTES)

    async def _read_stderr(self) -> None:
        pipe = self._process.stderr
        while pipe is not None and (data := await pipe.read(_READ_BYTES)):
            self._stderr.feed(data)
        self._stderr.close()


def capture_command(*words: str) -> list[str]:
    """Arguments of a recording process."""
    # -P: whatever lies in the current directory must not be imported by it.
    return [sys.executable, "-P", "-m", "edge_asr.listening.capture_child", *words]


def refusal(refused: Refused) -> EdgeAsrError:
    """The error that ended a recording process, as the kind it was."""
    error = (
        ConfigurationError(refused.message) if refused.code == DeviceNameUnclear.code else MachineError(refused.message)
    )
    error.code = refused.code
    return error
