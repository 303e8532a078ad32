"""What writes too much wears out an SD card: the same remark is written once and then counted for a while, and remarks
that each are new (of every client that is refused, say) have a budget.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

QUIET_S = 60.0
"""For so long a remark is not repeated."""
LINES_PER_MINUTE = 60
"""Of remarks and warnings; errors are always written."""
REMEMBERED = 256
"""Different remarks; beyond that the oldest are forgotten, and memory stays bounded."""


class RepeatedRemarks(logging.Filter):
    """Holds back a remark that was written less than :data:`QUIET_S` ago.

    When it comes again after that, it says how often it was held back. Remarks are told apart by their final text, so
    that those about different things all pass.

    Args:
        now_s: Monotonic seconds.
    """

    def __init__(self, now_s: Callable[[], float]) -> None:
        super().__init__()
        self._now_s = now_s
        self._written: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; may add to its text how often it was not."""
        text, now_s = record.getMessage(), self._now_s()
        written_s, held_back = self._written.pop(text, (now_s - QUIET_S, 0))
        if now_s - written_s < QUIET_S:
            self._written[text] = (written_s, held_back + 1)
            return False
        self._written[text] = (now_s, 0)
        if len(self._written) > REMEMBERED:
            del self._written[next(iter(self._written))]
        if held_back:
            record.msg, record.args = f"{text} ({held_back} more times since)", None
        return True


class LineBudget(logging.Filter):
    """Lets so many lines through per minute, and says with the next one how many it did not.

    Args:
        now_s: Monotonic seconds.
    """

    def __init__(self, now_s: Callable[[], float]) -> None:
        super().__init__()
        self._now_s = now_s
        self._minute = 0
        self._written = 0
        self._held_back = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; may add to its text how many others were not."""
        if record.levelno >= logging.ERROR:
            return True
        minute = int(self._now_s() // 60)
        if minute != self._minute:
            self._minute, self._written = minute, 0
        if self._written >= LINES_PER_MINUTE:
            self._held_back += 1
            return False
        self._written += 1
        if self._held_back:
            record.msg, record.args = f"{record.getMessage()} ({self._held_back} other lines were not logged)", None
            self._held_back = 0
        return True
