"""What a decoding step costs by the number of streams in it, and how many streams can be carried at that; pure.

A step of n streams takes about a + b n: what every step costs, and what a stream adds. Both are fitted by least squares
to the sums that a worker reports, newer steps counting more. What the worker does around its steps, taking audio in and
giving text out, is added to b: with a small model it is half as much again. From them follows how many streams that
talk without a pause keep up, without one of them having been refused to find out.
"""

from __future__ import annotations

from dataclasses import dataclass

HALF_LIFE_STEPS = 500.0
"""So many steps later a step counts half: minutes with one stream, seconds with many, and a clock that the heat slows
down is noticed before the queue is."""

LEAST_STEPS = 20.0
"""Fewer say nothing."""

LEAST_VARIANCE = 0.05
"""Of the streams per step; below it the two costs cannot be told apart."""


@dataclass(frozen=True, slots=True)
class StepSums:
    """Sums over decoding steps of n streams and t seconds each."""

    steps: float = 0.0
    streams: float = 0.0
    """Of n."""
    streams_squared: float = 0.0
    """Of n²."""
    seconds: float = 0.0
    """Of t."""
    stream_seconds: float = 0.0
    """Of n t."""
    around_seconds: float = 0.0
    """That the worker's own threads worked outside the steps."""

    def __add__(self, other: StepSums) -> StepSums:
        return StepSums(
            self.steps + other.steps,
            self.streams + other.streams,
            self.streams_squared + other.streams_squared,
            self.seconds + other.seconds,
            self.stream_seconds + other.stream_seconds,
            self.around_seconds + other.around_seconds,
        )

    def times(self, factor: float) -> StepSums:
        """All sums weighted."""
        return StepSums(
            factor * self.steps,
            factor * self.streams,
            factor * self.streams_squared,
            factor * self.seconds,
            factor * self.stream_seconds,
            factor * self.around_seconds,
        )


@dataclass(frozen=True, slots=True)
class StepCost:
    """Seconds of a step of n streams: ``step_s + stream_s * n``."""

    step_s: float
    stream_s: float

    def streams(self, chunk_s: float, max_batch: int, max_load: float) -> float:
        """Streams that talk without a pause and get every step done before the next one is due.

        While a step runs, the streams gather that take part in the next one: N streams with a step every T seconds make
        steps of n = N t / T streams, which take t = a / (1 - N b / T). A chunk waits for the step that is running and
        for its own, so 2 t must stay below T; and steps of the greatest size must not come more often than they can.

        Args:
            chunk_s: T, audio per step.
            max_batch: Streams in one step.
            max_load: Share of T that is to be used.
        """
        budget_s = max_load * chunk_s
        in_full_steps = max_batch * budget_s / max(self.step_s + max_batch * self.stream_s, 1e-9)
        if self.stream_s <= 0:
            return in_full_steps
        in_time = chunk_s / self.stream_s * (1 - 2 * self.step_s / budget_s)
        return max(0.0, min(in_full_steps, in_time))


class StepCostFit:
    """Follows the reports of one worker."""

    def __init__(self) -> None:
        self._sums = StepSums()

    def add(self, sums: StepSums) -> None:
        """Steps done since the last report."""
        self._sums = self._sums.times(0.5 ** (sums.steps / HALF_LIFE_STEPS)) + sums

    @property
    def cost(self) -> StepCost | None:
        """What is known; ``None`` before :data:`LEAST_STEPS`."""
        sums = self._sums
        if sums.steps < LEAST_STEPS:
            return None
        mean_streams, mean_s = sums.streams / sums.steps, sums.seconds / sums.steps
        around_s = sums.around_seconds / sums.streams
        variance = sums.streams_squared / sums.steps - mean_streams**2
        if variance < LEAST_VARIANCE:
            # Nothing is known of larger steps: suppose that sharing them saves nothing.
            return StepCost(0.0, mean_s / mean_streams + around_s)
        slope = (sums.stream_seconds / sums.steps - mean_streams * mean_s) / variance
        stream_s = min(max(slope, 0.0), mean_s / mean_streams)
        return StepCost(mean_s - stream_s * mean_streams, stream_s + around_s)
