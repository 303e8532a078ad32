"""Which audio a step of a streaming model waits for, and how long after that audio its result came.

A step's latency is a black box's: from the moment when the last sample it needs was spoken to the moment when its
result arrived. Which sample that is follows from the model's metadata.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

FRAME_SAMPLES = 160
"""A feature frame every 10 ms at 16 kHz."""
FRAME_REACH_SAMPLES = 280
"""Frame i looks at 400 samples around the middle of its 160: it ends 280 after 160 i."""


@dataclass(frozen=True, slots=True)
class StepTiming:
    """How a model moves through its audio."""

    chunk_frames: int
    """By which a step moves on."""
    window_frames: int
    """What a step looks at."""

    @property
    def chunk_s(self) -> float:
        """Seconds of audio that a step moves on by: the time there is for it."""
        return self.chunk_frames * FRAME_SAMPLES / 16_000

    def needed_samples(self, step: float, padding_samples: int) -> int:
        """Samples of the recording without which step number ``step``, from 1, cannot run.

        The engine asks for one frame more than the window (``processed + window < ready``).

        Args:
            step: Its number; between two integers for a step that ends between theirs.
            padding_samples: Silence put before the recording.
        """
        last_frame = (step - 1) * self.chunk_frames + self.window_frames
        return round(last_frame * FRAME_SAMPLES) + FRAME_REACH_SAMPLES - padding_samples


@dataclass(frozen=True, slots=True)
class Arrival:
    """A result that came."""

    step: float
    at_ns: int


def step_latencies_s(
    timing: StepTiming, arrivals: Iterable[Arrival], spoken_ns: Sequence[int], piece_samples: int, padding_samples: int
) -> list[float]:
    """Latencies of the steps that live audio set off; what only the end of the recording brought is left out.

    Args:
        timing: Of the model.
        arrivals: In their order; the first of each step counts.
        spoken_ns: When each piece was spoken.
        piece_samples: Length of each.
        padding_samples: Silence that the recogniser puts before the recording.
    """
    first = {arrival.step: arrival.at_ns for arrival in reversed(list(arrivals))}
    latencies = []
    for step, at_ns in sorted(first.items()):
        piece = max(0, math.ceil(timing.needed_samples(step, padding_samples) / piece_samples) - 1)
        if piece < len(spoken_ns):
            latencies.append((at_ns - spoken_ns[piece]) / 1e9)
    return latencies
