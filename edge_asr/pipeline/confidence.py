"""What the probability that a model gave a word is worth: the share of such words that are right. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
        probabilities, shares = zip(*self.points, strict=True)
        return float(np.interp(probability, probabilities, shares))

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
