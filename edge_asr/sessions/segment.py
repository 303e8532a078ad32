"""The open segment of a session: what was understood so far, as partials and at last as a final. No I/O.

Positions are samples since the session began, at the engine's rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from edge_asr.clock import Clock
from edge_asr.commands.listening import Heard
from edge_asr.engines.base import Hypothesis, Token
from edge_asr.events import Final, FinalReason, Partial, Speaker
from edge_asr.pipeline.confidence import AS_SAID, Calibration
from edge_asr.pipeline.endpoint import Endpoint, SegmentProgress, find_endpoint
from edge_asr.pipeline.rewriting import rewritten
from edge_asr.pipeline.stability import AgreementStability, AppendOnlyStability
from edge_asr.pipeline.text import tidy, words_from_tokens
from edge_asr.pipeline.writing import AS_HEARD, Writer
from edge_asr.requests import SessionOptions
from edge_asr.settings import EndpointSettings

LATE_PARTIALS_EVERY_S = 1.0
"""Audio between two partials while decoding is late: what comes sooner would be stale when it is read."""


@dataclass(frozen=True, slots=True)
class SegmentSettings:
    """What does not change from segment to segment."""

    session_id: str
    options: SessionOptions
    sample_rate_hz: int
    endpoint: EndpointSettings
    case: Callable[[str], str]
    """Applied to the model's text."""
    writer: Writer
    """What finals go through."""
    is_append_only: bool
    calibration: Calibration = AS_SAID
    """Of the model's confidence."""


class Segment:
    """One after the other; :meth:`begin` starts the next.

    Args:
        settings: Of the session.
        clock: Where events get their time.
        in_session: From a position of the engine's stream to one of the session.
        number: Of the first segment.
        start: Where it begins.
        revision: Partials of it that the client has seen.
    """

    def __init__(
        self,
        settings: SegmentSettings,
        clock: Clock,
        in_session: Callable[[int], int],
        *,
        number: int,
        start: int,
        revision: int,
    ) -> None:
        self.number = number
        self.stale_partials = 0
        """Not said because decoding was late, in all segments."""
        self._settings = settings
        self._clock = clock
        self._in_session = in_session
        self._stability = AppendOnlyStability() if settings.is_append_only else AgreementStability()
        self.begin(start)
        self._revision = revision

    @property
    def start(self) -> int:
        """Where the open one begins."""
        return self._start

    @property
    def is_started(self) -> bool:
        """Whether there is a text, or was one: the segment will have a final."""
        return bool(self._text) or self._revision > 0  # a partial that was taken back needs its final too

    def begin(self, position: int) -> None:
        """Nothing has been said since this position."""
        self._start = self._last_change = self._said_at = position
        self._text = self._said = ""
        self._revision = 0
        self._stability.reset()

    def skip(self, samples: int) -> None:
        """So much audio was lost; nobody knows what was said in it, and it makes no segment too long."""
        self._start += samples
        self._last_change += samples

    def look(self, hypothesis: Hypothesis, heard: int, *, is_late: bool) -> Partial | None:
        """A partial, if the text is another one.

        Args:
            hypothesis: Of the step just done.
            heard: Position up to which it goes.
            is_late: Whether decoding is late.
        """
        text = self._settings.case(tidy(hypothesis.text))
        if text != self._text:
            self._text = text
            self._last_change = heard
        if text == self._said or not self._settings.options.partials:
            return None
        if is_late and self._seconds(heard - self._said_at) < LATE_PARTIALS_EVERY_S:
            self.stale_partials += 1
            return None
        self._said, self._said_at = text, heard
        self._revision += 1
        return Partial(
            session_id=self._settings.session_id,
            segment=self.number,
            revision=self._revision - 1,
            text=text,
            stable_chars=self._stability.settle(text),
            start_s=self._start_of(hypothesis),
            end_s=self._seconds(heard),
            emitted_ns=self._clock.now_ns(),
        )

    def endpoint(self, hypothesis: Hypothesis, heard: int) -> Endpoint | None:
        """The rule that closes the segment, if one does.

        Args:
            hypothesis: The newest.
            heard: Position up to which it is known what was said.
        """
        return find_endpoint(
            SegmentProgress(
                segment_start_s=self._seconds(self._start),
                decoded_s=self._seconds(heard),
                last_token_s=self._token_s(hypothesis.tokens[-1]) if self._text and hypothesis.tokens else None,
                last_change_s=self._seconds(self._last_change),
                is_complete=hypothesis.is_complete,
            ),
            self._settings.endpoint,
        )

    def close(
        self,
        understood: Heard,
        reason: FinalReason,
        heard: int,
        case: Callable[[str], str] | None = None,
        speaker: Speaker | None = None,
    ) -> Final | None:
        """The final, unless nothing was said; :meth:`begin` is next.

        Args:
            understood: What was said.
            reason: Which rule closes the segment.
            heard: Position up to which it goes.
            case: Applied to another model's text; ``None`` for that of the session's own.
            speaker: Whose voice it is, where that is known.
        """
        hypothesis, calibration = understood.hypothesis, self._settings.calibration if case is None else AS_SAID
        case = case or self._settings.case
        self._text = case(tidy(hypothesis.text))
        if not self.is_started:
            return None
        end_s = self._seconds(heard)
        heard_text = self._text if hypothesis.raw_text is None else case(tidy(hypothesis.raw_text))
        text = self._text if understood.command else self._settings.writer.write(self._text)
        heard_words = words_from_tokens(self._tokens(hypothesis.tokens, case), heard_text, end_s)
        words = rewritten(calibration.applied(heard_words), text)
        self.number += 1
        return Final(
            session_id=self._settings.session_id,
            segment=self.number - 1,
            text=text,
            words=words if self._settings.options.words else (),
            start_s=min(self._start_of(hypothesis), end_s),
            end_s=min(max(words[-1].end_s, words[0].start_s), end_s) if words else end_s,
            reason=reason,
            emitted_ns=self._clock.now_ns(),
            command=understood.command,
            open_text=None if understood.open_text is None else case(tidy(understood.open_text)),
            raw_text=heard_text if self._may_be_rewritten(understood) else None,
            tags=dict(hypothesis.tags) or None,
            speaker=speaker,
        )

    def _may_be_rewritten(self, understood: Heard) -> bool:
        if understood.command:
            return False  # its text is that of the templates
        return self._settings.writer is not AS_HEARD or understood.hypothesis.raw_text is not None

    def _tokens(self, tokens: Sequence[Token], case: Callable[[str], str]) -> list[Token]:
        return [Token(case(token.text), self._token_s(token), token.log_prob) for token in tokens]

    def _start_of(self, hypothesis: Hypothesis) -> float:
        return self._token_s(hypothesis.tokens[0]) if hypothesis.tokens else self._seconds(self._start)

    def _token_s(self, token: Token) -> float:
        return self._seconds(self._in_session(round(token.start_s * self._settings.sample_rate_hz)))

    def _seconds(self, samples: int) -> float:
        return samples / self._settings.sample_rate_hz
