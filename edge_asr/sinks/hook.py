"""A command for each final: its text in ``$EDGE_ASR_TEXT``, all of it as JSON on standard input.

No shell: what was said can never become part of a command. One at a time, so that they come in order; one that takes
too long is ended with all its children; finals that come faster than they are worked off give way, the oldest first.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
from collections.abc import Mapping

import msgspec

from edge_asr.errors import ConfigurationError
from edge_asr.settings import HookSettings
from edge_asr.sinks.base import Spoken, Waiting

logger = logging.getLogger(__name__)

LOGGED_CHARS = 200
"""Of what a failing command says last."""

_READ_BYTES = 64 << 10


class HookSink:
    """Implements :class:`~edge_asr.sinks.base.Sink`."""

    name = "hook"

    def __init__(self, settings: HookSettings, waiting: Waiting, environment: Mapping[str, str]) -> None:
        """Prepare.

        Args:
            settings: The command and its limits.
            waiting: Finals that it has not had.
            environment: What it inherits.

        Raises:
            ConfigurationError: There is no such program.
        """
        program = shutil.which(settings.command[0])
        if program is None:
            raise ConfigurationError(f"hook.command: no program {settings.command[0]!r} that can be run")
        self._command = (program, *settings.command[1:])
        self._timeout_s = settings.timeout_s
        self._waiting = waiting
        self._environment = environment

    def offer(self, spoken: Spoken) -> None:
        """Take a final."""
        self._waiting.put(spoken)

    async def drained(self) -> None:
        """Wait until nothing waits."""
        await self._waiting.drained()

    async def run(self) -> None:
        """Run the command for one final after the other, until cancelled."""
        while True:
            spoken = await self._waiting.first()
            is_done = await self._run(spoken)
            self._waiting.done(spoken, "delivered" if is_done else "failed")

    async def _run(self, spoken: Spoken) -> bool:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env={**self._environment, "EDGE_ASR_TEXT": spoken.text.replace("\0", "")},
                start_new_session=True,
            )
        except OSError as error:
            logger.warning("hook.command %s cannot be run: %s", self._command[0], error.strerror or error)
            return False
        try:
            async with asyncio.timeout(self._timeout_s):
                complaint, _, _ = await asyncio.gather(
                    last_bytes(process.stderr), _give(process.stdin, msgspec.json.encode(spoken)), process.wait()
                )
        except TimeoutError:
            logger.warning("hook.command %s was ended: it took longer than %g s", self._command[0], self._timeout_s)
            return False
        finally:
            await _end(process)
        if process.returncode:
            last = _last_line(complaint)
            logger.warning("hook.command %s left with %d: %s", self._command[0], process.returncode, last or "silence")
        return not process.returncode


async def _give(pipe: asyncio.StreamWriter | None, data: bytes) -> None:
    if pipe is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it need not read
        pipe.write(data)
        await pipe.drain()
    pipe.close()


async def last_bytes(pipe: asyncio.StreamReader | None) -> bytes:
    """The end of what it says; a command that complains without end must not fill our memory."""
    kept = b""
    while pipe is not None and (data := await pipe.read(_READ_BYTES)):
        kept = (kept + data)[-_READ_BYTES:]
    return kept


def _last_line(complaint: bytes) -> str:
    line = complaint.decode(errors="replace").strip().rpartition("\n")[2]
    return "".join(char if char.isprintable() else " " for char in line[:LOGGED_CHARS]).strip()


async def _end(process: asyncio.subprocess.Process) -> None:
    """The command, and what it left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
