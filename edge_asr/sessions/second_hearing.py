"""A segment's final from a second model: asked for when the segment is over, waited for until a deadline. No I/O.

While its final is awaited a session decodes nothing of what comes next, so that nothing is said out of order; it is
pause then, as a rule. Where the second model would be too late, or fails, the final is what the first one understood.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from edge_asr.audio import Float32Array
from edge_asr.clock import Clock
from edge_asr.commands.listening import Heard
from edge_asr.engines.base import Hypothesis
from edge_asr.engines.passes import Done, Pass
from edge_asr.engines.second_pass import SecondPass
from edge_asr.events import FinalReason, Speaker
from edge_asr.pipeline.text import CASES
from edge_asr.settings import SecondPassSettings

PassOutcome = Literal["done", "late", "foreseen_late", "too_long", "failed"]
"""What became of a second pass: ``foreseen_late`` and ``too_long`` were never begun."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A segment that is over, and whose final has not been said."""

    understood: Heard
    """By the first model."""
    reason: FinalReason
    heard: int
    """Position, as samples of the session, up to which it goes."""
    go_on: Callable[[], None]
    """What is done when the final is said."""


@dataclass(frozen=True, slots=True)
class SaidFinal:
    """What the final says."""

    understood: Heard
    case: Callable[[str], str] | None = None
    """Applied to its text; ``None`` for that of the first model."""
    why_first: str = ""
    """Why the second model's text is not in it; empty where it is."""
    outcome: PassOutcome | None = None
    """What became of its second pass; ``None`` where there was to be none."""
    speaker: Speaker | None = None
    """Whose voice it is, where that is known."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """A final on its way."""

    closing: Closing
    deadline_ns: int | None
    """When it is no longer waited for; ``None`` for never."""
    _underway: Pass[Hypothesis]
    _begin_s: float
    """Where its audio begins, seconds of the engine's stream."""
    _case: Callable[[str], str]
    _deadline_ms: int

    def outcome(self, now_ns: int) -> SaidFinal | None:
        """What to say; ``None`` while it is worth waiting."""
        if self._underway.is_done:
            second = self._underway.result
            if second is None:
                return _first(self.closing, "the second model failed on it", "failed")
            first = self.closing.understood
            improved = second.later(self._begin_s, first.hypothesis.decoded_samples)
            open_text = None if first.open_text is None else improved.text
            said = replace(first, hypothesis=improved, open_text=open_text)
            return SaidFinal(said, self._case, outcome="done")
        if self.deadline_ns is not None and now_ns >= self.deadline_ns:
            self.give_up()
            return _first(self.closing, f"it did not come within {self._deadline_ms} ms", "late")
        return None

    def give_up(self) -> None:
        """Nobody waits any more."""
        self._underway.give_up()


@dataclass(frozen=True, slots=True)
class SecondHearing:
    """Where finals are asked for; shared by all sessions."""

    second_pass: SecondPass
    settings: SecondPassSettings
    text_case: Literal["as_is", "lower"]
    """Of the second model."""
    clock: Clock

    def ask(
        self, closing: Closing, samples: Float32Array, begin_s: float, sample_rate_hz: int, *, is_batch: bool
    ) -> Awaited | SaidFinal:
        """Have a segment heard again, unless it is known beforehand that its text would not come in time.

        Args:
            closing: The segment.
            samples: Its audio, shape (n,); not copied.
            begin_s: Where that begins, seconds of the engine's stream.
            sample_rate_hz: Of the audio.
            is_batch: Nobody waits: there is no deadline.
        """
        settings, longest_s = self.settings, self.second_pass.max_segment_s
        if len(samples) > longest_s * sample_rate_hz:
            why = f"the segment is longer than the {longest_s:.0f} s that the model takes"
            return _first(closing, why, "too_long")
        if not is_batch and self.second_pass.expected_s(len(samples)) * 1000 > settings.deadline_ms:
            return _first(closing, f"it would not come within {settings.deadline_ms} ms", "foreseen_late")
        deadline_ns = None if is_batch else self.clock.now_ns() + settings.deadline_ms * 1_000_000
        underway: Pass[Hypothesis] = self.second_pass.begin(samples) if len(samples) else Done(None)
        return Awaited(closing, deadline_ns, underway, begin_s, CASES[self.text_case], settings.deadline_ms)


def _first(closing: Closing, why: str, outcome: PassOutcome) -> SaidFinal:
    """The first model's own final."""
    return SaidFinal(closing.understood, why_first=why, outcome=outcome)
