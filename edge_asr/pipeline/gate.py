"""The silence gate: long silence is kept from a streaming engine, which would decode it at full price.

The gate is open from the first sound until so much silence has passed that the engine has said its last words; it
closes when the engine has just taken a step, so that little is left over that would be decoded together with what comes
after the silence. While it is closed the newest ``pre_roll`` is held back and let through before the sound that opens
the gate, since words begin softly. What is older is skipped, and the caller is told how much.

Decisions are made frame by frame, so they do not depend on how the audio was cut into pieces. Audio in, audio out; no
clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.samples import window_levels_dbfs
from edge_asr.pipeline.energy import FRAME_S, QUIETEST_BACKGROUND_DBFS, Background
from edge_asr.settings import GateSettings

_NOTHING: Float32Array = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """Audio for the engine."""

    samples: Float32Array
    """Mono PCM, shape (n,)."""
    skipped_samples: int = 0
    """Silence before it that the engine does not get."""


@dataclass(frozen=True, slots=True)
class EngineSteps:
    """When a streaming engine takes its steps; samples since its stream was opened."""

    first: int
    """Audio before the first step; negative where a stream begins with more silence than that takes."""
    every: int
    """Audio from one step to the next; 0 where it is not known."""
    tail: int
    """Silence after which everything has been said and decoded, wherever the steps are."""

    def audio_for(self, step: int) -> int:
        """Audio with which a step is possible; the first one has the number 0."""
        return self.first + step * self.every

    def next_after(self, given: int) -> int:
        """Audio with which the first step is possible that is not possible with so much yet."""
        return self.first if given < self.first else given + self.every - (given - self.first) % self.every

    def has_just_stepped(self, given: int, within: int) -> bool:
        """Whether a step became possible with one of the last ``within`` samples of ``given``."""
        return not self.every or (given >= self.first and (given - self.first) % self.every < within)

    def after_the_first(self, offset: int) -> int:
        """The same place within a step, where the first step has been taken."""
        return offset + (-(-self.first // self.every) * self.every if self.every else self.first)


@dataclass(frozen=True, slots=True)
class Hearing:
    """What a gate has found out about its audio."""

    is_open: bool = True
    background_dbfs: float = QUIETEST_BACKGROUND_DBFS
    silent_samples: int = 0
    """Since the last sound."""


EVERYTHING = Hearing()
"""Of a gate that has heard nothing yet."""


class Gate(Protocol):
    """What a session asks of a gate; positions are samples that it was given."""

    @property
    def is_closed(self) -> bool:
        """Whether silence is being kept from the engine."""
        ...

    @property
    def held_samples(self) -> int:
        """Of the newest audio, what may still be let through; 0 while the gate is open."""
        ...

    @property
    def kept_samples(self) -> int:
        """Silence that the engine did not get, in all; what is held counts only once it is given up."""
        ...

    @property
    def closes_in(self) -> int | None:
        """Further samples with which it closes at the soonest; ``None`` for never, 0 where nobody knows."""
        ...

    @property
    def quiet_dbfs(self) -> float | None:
        """The loudest frame that is silence, as it stands; ``None`` where it does not go by loudness."""
        ...

    def take(self, samples: Float32Array) -> list[Passage]:
        """The next audio; what of it goes on to the engine, together with what was held before it."""
        ...

    def interrupt(self) -> int:
        """What comes next does not follow on: give up what is held.

        Returns:
            Samples skipped since the gate was closed.
        """
        ...

    def begin_stream(self) -> None:
        """A fresh engine stream gets what comes next; what is held belongs to the one before."""
        ...

    @property
    def unjudged_samples(self) -> int:
        """Of the newest audio, what is less than a frame."""
        ...

    @property
    def hearing(self) -> Hearing:
        """What it goes by, up to the last whole frame."""
        ...

    def go_on(self, hearing: Hearing, step_offset: int) -> None:
        """Begin as another one was, at the end of a frame.

        Args:
            hearing: Of the other one.
            step_offset: Samples that the engine's stream has got beyond the beginning of a step.
        """
        ...

    def settle(self) -> None:
        """A final was said after silence."""
        ...

    def take_phrase(self) -> str:
        """The phrase that opened it since the last call; empty for none."""
        ...


class OpenGate:
    """Lets everything through: for engines whose text depends on silence too, and where the gate is switched off."""

    is_closed = False
    held_samples = kept_samples = unjudged_samples = 0
    closes_in = quiet_dbfs = None
    hearing = EVERYTHING

    def take(self, samples: Float32Array) -> list[Passage]:
        """All of it."""
        return [Passage(samples)]

    def interrupt(self) -> int:
        """Nothing is held."""
        return 0

    def begin_stream(self) -> None:
        """Nothing is held."""

    def go_on(self, hearing: Hearing, step_offset: int) -> None:
        """It stays open."""

    def settle(self) -> None:
        """It stays open."""

    def take_phrase(self) -> str:
        """No phrase opens it."""
        return ""


class SilenceGate:
    """Follows one stream of audio; begins open.

    Args:
        settings: Margin and lengths.
        sample_rate_hz: Of the audio.
        steps: Those of the engine.
    """

    def __init__(self, settings: GateSettings, sample_rate_hz: int, steps: EngineSteps) -> None:
        self._background = Background(settings.margin_db)
        self._frame = round(FRAME_S * sample_rate_hz)
        self._pre_roll = round(settings.pre_roll_ms * sample_rate_hz / 1000)
        # Closing with a step saves waiting for the next one.
        self._hang_over = steps.tail - steps.every + round(settings.hang_over_ms * sample_rate_hz / 1000)
        self._steps = steps
        self._given = 0
        """Samples let through to the engine's stream."""
        self._is_open = True
        self._judged = 0
        """Position up to which whole frames were heard."""
        self._rest = _NOTHING
        """The beginning of the frame after it."""
        self._last_sound = 0
        self._closed_at = 0
        self._held = _NOTHING
        self._skipped_before = 0
        """Silence skipped when the gate was closed earlier."""

    @property
    def is_closed(self) -> bool:
        """Whether silence is being kept from the engine."""
        return not self._is_open

    @property
    def held_samples(self) -> int:
        """Of the newest audio, what may still be let through."""
        return len(self._held)

    @property
    def kept_samples(self) -> int:
        """Silence that the engine did not get."""
        return self._skipped_before + (0 if self._is_open else self._position - len(self._held) - self._closed_at)

    @property
    def closes_in(self) -> int | None:
        """Further samples with which it closes if they, and the frame that was begun, are silent."""
        if not self._is_open:
            return 0
        frame, steps = self._frame, self._steps
        until_quiet = self._last_sound + self._hang_over - self._judged
        frames = max(1, -(-until_quiet // frame))
        given = self._given - len(self._rest) + frames * frame
        if not steps.has_just_stepped(given, frame):
            frames += -(-(steps.next_after(given) - given) // frame)
        return frames * frame - len(self._rest)

    @property
    def quiet_dbfs(self) -> float:
        """The loudest frame that is silence."""
        return self._background.loudest_quiet_dbfs

    def take(self, samples: Float32Array) -> list[Passage]:
        """Hear the frames that are complete now and let through what is to be heard."""
        audio = samples if self._is_open else np.concatenate((self._held, samples))
        begin = self._position - len(self._held)  # position of the first sample of ``audio``
        unheard = np.concatenate((self._rest, samples)) if len(self._rest) else samples
        skipped, cut = 0, begin
        passages: list[Passage] = []
        for number, level in enumerate(window_levels_dbfs(unheard, self._frame).tolist(), 1):
            end = self._judged + number * self._frame
            if self._background.is_exceeded(level):
                self._last_sound = end
                if not self._is_open:
                    cut = max(self._closed_at, end - self._frame - self._pre_roll)
                    skipped = self._open(cut)
            elif self._is_open and self._may_close(end, self._given + end - cut):
                passages.append(Passage(audio[cut - begin : end - begin], skipped))
                self._given += end - cut
                self._is_open, self._closed_at, skipped = False, end, 0
        self._rest = unheard[len(unheard) // self._frame * self._frame :].copy()
        self._judged += len(unheard) - len(self._rest)
        if self._is_open:
            passages.append(Passage(audio[cut - begin :], skipped))
            self._given += len(audio) - (cut - begin)
            self._held = _NOTHING
        else:
            self._held = audio[max(self._closed_at, self._judged - self._pre_roll) - begin :].copy()
        return passages

    def interrupt(self) -> int:
        """Give up what is held; the frame that was begun is heard with what follows."""
        if self._is_open:
            return 0
        skipped = self._open(self._position)
        self._is_open, self._closed_at, self._held = False, self._position, _NOTHING
        return skipped

    def begin_stream(self) -> None:
        """Give up what is held; the steps are counted anew."""
        self.interrupt()
        self._given = 0

    def settle(self) -> None:
        """It goes by sound only."""

    def take_phrase(self) -> str:
        """No phrase opens it."""
        return ""

    @property
    def unjudged_samples(self) -> int:
        """Of the newest audio, what is less than a frame."""
        return len(self._rest)

    @property
    def hearing(self) -> Hearing:
        """What it goes by, up to the last whole frame."""
        return Hearing(self._is_open, self._background.level_dbfs, self._judged - self._last_sound)

    def go_on(self, hearing: Hearing, step_offset: int) -> None:
        """Begin as another one was."""
        self._is_open = hearing.is_open
        self._background.level_dbfs = hearing.background_dbfs
        self._last_sound = self._judged - hearing.silent_samples
        self._closed_at = self._judged
        self._given = self._steps.after_the_first(step_offset)

    @property
    def _position(self) -> int:
        """Samples given so far."""
        return self._judged + len(self._rest)

    def _may_close(self, end: int, given: int) -> bool:
        return end - self._last_sound >= self._hang_over and self._steps.has_just_stepped(given, self._frame)

    def _open(self, position: int) -> int:
        """Let audio through from a position on; the silence skipped before it."""
        skipped = position - self._closed_at
        self._is_open = True
        self._skipped_before += skipped
        return skipped
