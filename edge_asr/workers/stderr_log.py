"""What a worker writes to standard error, as log records of the front: by level, limited in rate, the last ones kept.

Lines of our own code begin with ``<N>``, the syslog level (as systemd reads it too); everything else comes from native
libraries, which know no levels.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Callable

from edge_asr.clock import Clock

LINES_PER_MINUTE = 60
"""More are counted, not logged: a library that complains on every chunk must not wear out a memory card."""

_KEPT_LINES = 8
_MAX_LINE_BYTES = 4096
_PREFIX = re.compile(r"<([0-7])>(.*)")
_TROUBLE = re.compile(r"error|fail|fallback|fatal|abort|terminate|exception|traceback|not exist|rebuild", re.IGNORECASE)
_TO_SYSLOG = ((logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6), (logging.NOTSET, 7))
_FROM_SYSLOG = {4: logging.WARNING, 5: logging.INFO, 6: logging.INFO, 7: logging.DEBUG}


class PrefixFormatter(logging.Formatter):
    """The worker's side: puts ``<N>`` before every line, those of a traceback too."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as prefixed lines."""
        level = next(syslog for least, syslog in _TO_SYSLOG if record.levelno >= least)
        return "\n".join(f"<{level}>{line}" for line in super().format(record).splitlines())


def level_of(line: str) -> tuple[int, str]:
    """Level and text of one line."""
    prefixed = _PREFIX.fullmatch(line)
    if prefixed:
        return _FROM_SYSLOG.get(int(prefixed[1]), logging.ERROR), prefixed[2]
    return (logging.WARNING if _TROUBLE.search(line) else logging.DEBUG), line


class StderrLog:
    """The front's side: takes bytes as they come from the pipe."""

    def __init__(
        self, log: logging.Logger, name: str, clock: Clock, hear: Callable[[str], None] = lambda _line: None
    ) -> None:
        self._hear = hear
        """Called with every line."""
        self._log = log
        self._name = name
        self._clock = clock
        self._rest = b""
        self._last: deque[str] = deque(maxlen=_KEPT_LINES)
        self._minute = 0
        self._logged_this_minute = 0
        self._suppressed = 0

    @property
    def last_words(self) -> str:
        """The last line that says something went wrong, else the last line; empty when there was none."""
        lines = [level_of(line) for line in self._last]
        grave = [text for level, text in lines if level >= logging.WARNING]
        return grave[-1] if grave else lines[-1][1] if lines else ""

    def feed(self, data: bytes) -> None:
        """Log the lines that are complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _MAX_LINE_BYTES:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._take(line)

    def close(self) -> None:
        """The pipe is at its end: log what is left."""
        self.feed(b"\n")
        self._say_suppressed()

    def _take(self, raw: bytes) -> None:
        line = raw[:_MAX_LINE_BYTES].decode(errors="replace").strip()
        if not line:
            return
        self._last.append(line)
        self._hear(line)
        level, text = level_of(line)
        if self._log.isEnabledFor(level) and self._may_log():
            self._log.log(level, "%s: %s", self._name, text)

    def _may_log(self) -> bool:
        minute = self._clock.now_ns() // 60_000_000_000
        if minute != self._minute:
            self._say_suppressed()
            self._minute, self._logged_this_minute = minute, 0
        if self._logged_this_minute >= LINES_PER_MINUTE:
            self._suppressed += 1
            return False
        self._logged_this_minute += 1
        return True

    def _say_suppressed(self) -> None:
        if self._suppressed:
            self._log.warning("%s: %d more lines within a minute were not logged", self._name, self._suppressed)
            self._suppressed = 0
