"""What the probability that a model gave a word is worth: the share of such words that are right. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from edge_asr.events import Word


@dataclass(frozen=True, slots=True)
class Calibration:
    """A line of points that rises, from the model's probability to the share that was measured; see the manifest."""

    points: tuple[tuple[float, float], ...] = ()
    """Empty: the model's own word for it."""

    def share(self, probability: float) -> float:
        """On the line between two points; before the first and behind the last one it is theirs."""
        if not self.points:
            return probability
        behind = bisect_right(self.points, probability, key=lambda point: point[0])
        if behind in (0, len(self.points)):
            return self.points[max(0, behind - 1)][1]
        (low, low_share), (high, high_share) = self.points[behind - 1 : behind + 1]
        return low_share + (high_share - low_share) * (probability - low) / (high - low)

    def applied(self, words: Sequence[Word]) -> tuple[Word, ...]:
        """The words with what their confidence is worth."""
        if not self.points:
            return tuple(words)
        return tuple(
            word if word.confidence is None else Word(word.text, word.start_s, word.end_s, self.share(word.confidence))
            for word in words
        )


AS_SAID = Calibration()
"""For models of which nothing was measured."""
