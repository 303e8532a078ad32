"""What an NPU's runtime writes to standard error while its engine goes on, with garbage or with no text. Pure.

Most failures end the worker by themselves. Rockchip's runtime also reports jobs that it could not submit, or that the
driver gave up, for which callers go on with what the outputs held before; and an engine may take the CPU instead.
"""

from __future__ import annotations

import re
from collections import deque

MOST_FAULTS = 3
"""So many in :data:`WITHIN_S` are no hiccup."""
WITHIN_S = 60.0

_FAULT = re.compile(
    r"^E RKNN: |failed to submit!|rknn_run fail|job time-?out|Qnn\w+_execute.*(?:fail|error)"
    r"|Failed to (?:run|set|get) (?:the )?(?:encoder|decoder|joiner|model|inputs|outputs)",
    re.IGNORECASE,
)
_FALLBACK = re.compile(r"fall(?:ing)? ?back to (?:the )?(?:cpu|\['cpu)", re.IGNORECASE)
_HARMLESS = re.compile(r"<[0-7]>|[WI] RKNN: |[\d\s:.-]*\[[WI]:onnxruntime")
"""Lines of our own code, and what runtimes say of single operators when a stream gets a context of its own."""


class DeviceWords:
    """Follows one worker that serves on a device."""

    def __init__(self) -> None:
        self._faults_s: deque[float] = deque(maxlen=MOST_FAULTS)

    def hear(self, line: str, now_s: float) -> str:
        """Why the worker is to be replaced, a clause; empty while it may go on.

        Args:
            line: That the engine has written.
            now_s: Monotonic seconds.
        """
        if _HARMLESS.match(line):
            return ""
        if _FALLBACK.search(line):
            return f"its engine left the device: {line}"
        if not _FAULT.search(line):
            return ""
        self._faults_s.append(now_s)
        if len(self._faults_s) < MOST_FAULTS or now_s - self._faults_s[0] > WITHIN_S:
            return ""
        return f"its device reported {MOST_FAULTS} errors within {WITHIN_S:.0f} s, the last one: {line}"
