"""How much of a partial is settled, so that a screen does not flicker and a protocol may send what it cannot recall.

An engine that only appends settles everything but its last word, which may still grow. For the others the part counts
on which the last few hypotheses agree, again without the last word of the agreement; once shown as settled, a part
stays so unless the engine itself goes back on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

AGREEING_HYPOTHESES = 3
"""Hypotheses that must agree; two follow the engine's first guess too readily."""


class AppendOnlyStability:
    """For engines whose text only grows."""

    def settle(self, text: str) -> int:
        """Length of the settled prefix of ``text``."""
        return _whole_words(text)

    def reset(self) -> None:
        """A new segment begins."""


class AgreementStability:
    """For engines that may revise what they said."""

    def __init__(self) -> None:
        self._recent: deque[str] = deque(maxlen=AGREEING_HYPOTHESES)
        self._settled = ""

    def settle(self, text: str) -> int:
        """Length of the settled prefix of ``text``."""
        self._recent.append(text)
        agreed = ""
        if len(self._recent) == AGREEING_HYPOTHESES:
            common = _common_prefix(self._recent)
            agreed = common[: _whole_words(common)]
        if not text.startswith(self._settled):
            shared = _common_prefix((text, self._settled))
            self._settled = shared[: _whole_words(shared)]
        if len(agreed) > len(self._settled):
            self._settled = agreed
        return len(self._settled)

    def reset(self) -> None:
        """A new segment begins."""
        self._recent.clear()
        self._settled = ""


def _common_prefix(texts: Sequence[str]) -> str:
    # The smallest and the greatest differ no later than any other two.
    low, high = min(texts), max(texts)
    length = next((index for index, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), len(low))
    return low[:length]


def _whole_words(text: str) -> int:
    """Length of ``text`` without its last, perhaps unfinished, word; characters of scripts without spaces settle."""
    cut = len(text)
    while cut > 0 and not text[cut - 1].isspace() and text[cut - 1].isascii():
        cut -= 1
    return len(text[:cut].rstrip())
