"""The wake-word gate: asleep until a phrase is heard, then open for what is said next.

While it sleeps, only a keyword spotter hears the audio, and that behind a silence gate of its own, so that a quiet room
costs next to nothing. What follows the phrase is let through from the phrase's end on, also what was said before the
spotter had made sure. It goes to sleep again after a final, or when nothing was said for a while.

Audio in, audio out; no clock.
"""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.base import Spotted, Spotter
from edge_asr.pipeline.gate import Gate, Hearing, Passage

HELD_S = 2.0
"""Audio that is kept while asleep: spotters are sure of a phrase within a second of its end."""

_NOTHING: Float32Array = np.zeros(0, np.float32)


class WakeGate:
    """Follows one stream of audio.

    Args:
        spotter: What listens meanwhile.
        ear: A silence gate before the spotter, which also tells when nothing is said any more.
        gate: What is before the engine while awake.
        listen_samples: Silence after which it sleeps again.
        sample_rate_hz: Of the audio.
        is_asleep: How it begins.
    """

    def __init__(
        self,
        spotter: Spotter,
        ear: Gate,
        gate: Gate,
        listen_samples: int,
        sample_rate_hz: int,
        *,
        is_asleep: bool = True,
    ) -> None:
        self._spotter = spotter
        self._ear = ear
        self._gate = gate
        self._listen_samples = listen_samples
        self._held_samples = round(HELD_S * sample_rate_hz)
        self._is_asleep = is_asleep
        self._held = _NOTHING
        self._pending = 0
        """Samples skipped since it fell asleep; what is held is among them."""
        self._carried = 0
        """Of the silence that the gate behind had skipped when it fell asleep, which nobody was told of yet."""
        self._skipped_before = 0
        self._silence = 0
        self._phrase = ""

    @property
    def is_closed(self) -> bool:
        """Whether audio is being kept from the engine."""
        return self._is_asleep or self._gate.is_closed

    @property
    def held_samples(self) -> int:
        """Of the newest audio, what may still be let through."""
        return len(self._held) if self._is_asleep else self._gate.held_samples

    @property
    def kept_samples(self) -> int:
        """Audio that the engine did not get."""
        pending = self._pending - len(self._held) if self._is_asleep else 0
        return self._skipped_before + pending + self._gate.kept_samples

    @property
    def closes_in(self) -> int | None:
        """Nobody knows: the phrase may be heard at any time, and it sleeps after a time of its own."""
        return 0

    @property
    def quiet_dbfs(self) -> float | None:
        """As the gate that listens takes it."""
        return self._ear.quiet_dbfs if self._is_asleep else self._gate.quiet_dbfs

    def take(self, samples: Float32Array) -> list[Passage]:
        """Listen for the phrase, or let through what the gate behind lets through."""
        if not self._is_asleep:
            return self._awake(samples)
        self._pending += len(samples)
        self._held = np.concatenate((self._held, samples))[-self._held_samples :]
        for passage in self._ear.take(samples):
            if passage.skipped_samples:
                self._spotter.begin()
            if spotted := self._spotter.hear(passage.samples):
                return self._wake(spotted)
        return []

    def interrupt(self) -> int:
        """Give up what is held."""
        self._ear.interrupt()
        self._spotter.begin()
        if not self._is_asleep:
            return self._gate.interrupt()
        return self._give_up(0)

    def begin_stream(self) -> None:
        """A fresh engine stream gets what comes next."""
        self._gate.begin_stream()
        if self._is_asleep:
            self._give_up(0)  # where the stream begins, the client's count is known

    @property
    def unjudged_samples(self) -> int:
        """Of the newest audio, what is less than a frame of the gate behind."""
        return 0 if self._is_asleep else self._gate.unjudged_samples

    @property
    def hearing(self) -> Hearing:
        """What the gate behind goes by."""
        return self._gate.hearing

    def go_on(self, hearing: Hearing, step_offset: int) -> None:
        """Let the gate behind begin as another one was."""
        self._gate.go_on(hearing, step_offset)

    def settle(self) -> None:
        """A final was said: what was asked for is done."""
        self._sleep()

    def take_phrase(self) -> str:
        """The phrase that it woke for since the last call; empty for none."""
        phrase, self._phrase = self._phrase, ""
        return phrase

    def _wake(self, spotted: Spotted) -> list[Passage]:
        self._is_asleep, self._silence, self._phrase = False, 0, spotted.phrase
        following = self._held[len(self._held) - min(spotted.samples_ago, len(self._held)) :]
        skipped = self._give_up(len(following))
        first, *others = self._gate.take(following) or [Passage(_NOTHING)]
        return [Passage(first.samples, first.skipped_samples + skipped), *others]

    def _awake(self, samples: Float32Array) -> list[Passage]:
        passages = self._gate.take(samples)
        self._ear.take(samples)
        self._silence = self._silence + len(samples) if self._ear.is_closed else 0
        if self._silence >= self._listen_samples:
            self._sleep()
        return passages

    def _sleep(self) -> None:
        if not self._is_asleep:
            # What the gate behind holds is given up, as lost time before whatever it lets through next.
            self._carried = self._gate.interrupt()
            self._is_asleep = True
            self._spotter.begin()

    def _give_up(self, but: int) -> int:
        """Let go of what was skipped, all but the newest samples; how much that is."""
        skipped = self._pending - but
        self._skipped_before += skipped
        skipped += self._carried
        self._pending = self._carried = 0
        self._held = _NOTHING
        return skipped
