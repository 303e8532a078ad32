"""How much one worker can carry and how much it does, from what it reports; pure.

The unit is a stream that talks without a pause. Recordings that nobody waits for do not count: they yield.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from edge_asr.sessions.step_cost import StepCost, StepCostFit, StepSums
from edge_asr.settings import AdmissionSettings

YOUNG_S = 10.0
"""So long a session is expected to talk as much as the settings say; after that as much as the others do."""

PRIOR_S = 60.0
"""The settings' share of talk counts as much as so many seconds of sessions that were listened to."""

TALK_HALF_LIFE_S = 60.0

LATE_SHARE = 0.01
"""Of the steps; beyond it the 99th percentile is later than the next chunk."""

LATE_FACTOR = 0.95
RECOVERY_PER_S = 0.01
LEAST_CORRECTION = 0.3
"""A report with too many late steps lowers the capacity by a twentieth; a second without gives a hundredth back."""


SURE_DEVIATIONS = 2.33
"""Standard deviations above the mean that are exceeded once in a hundred times."""


def talkers(*groups: tuple[int, float]) -> float:
    """How many sessions talk at a time, 99 times out of 100 at most: the binomial's normal approximation.

    Args:
        groups: Number of sessions, and the share of the time that one of them talks.
    """
    mean = sum(sessions * share for sessions, share in groups)
    variance = sum(sessions * share * (1 - share) for sessions, share in groups)
    return min(float(sum(sessions for sessions, _ in groups)), mean + SURE_DEVIATIONS * math.sqrt(variance))


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker did since the report before."""

    seconds: float
    """Of the wall clock."""
    steps: StepSums
    live_steps: float
    """Streams of sessions somebody waits for, in those steps."""
    audio_s: float
    """Audio of all sessions that was decoded."""
    live_audio_s: float
    """Of it, that of sessions somebody waits for."""
    live_decode_s: float
    """Time in the engine that it took."""
    live_sessions: int
    late_steps: int
    """Of the live steps, those that ended after they were due."""


class WorkerLoad:
    """One worker.

    Args:
        settings: What to expect before anything is known.
        chunk_s: Audio per decoding step; 0 for models that decode whole stretches of speech.
        max_batch: Streams in one step.
        cores: That the engine can keep busy.
    """

    def __init__(self, settings: AdmissionSettings, chunk_s: float, max_batch: int, cores: int) -> None:
        self.chunk_s = chunk_s
        self._settings = settings
        self._max_batch = max_batch
        self._cores = cores
        self._fit = StepCostFit()
        self.supposed_step_s = 0.0
        """What a step of one stream takes, as measured when the model was loaded; 0 for not known."""
        self._talked_s = PRIOR_S * settings.talk_share
        self._listened_s = PRIOR_S
        self._audio_s = self._live_audio_s = 0.0
        self._around_s = self._live_decode_s = 0.0
        self._correction = 1.0
        self.busy = 0.0
        """Share of the last report's time that was spent in the engine."""

    def report(self, report: Report) -> None:
        """Take what the worker says, about once a second."""
        if report.seconds <= 0:
            return
        self._fit.add(report.steps)
        self.busy = min(1.0, report.steps.seconds / report.seconds)
        keep = 0.5 ** (report.seconds / TALK_HALF_LIFE_S)
        self._talked_s = keep * self._talked_s + self._talking(report) * report.seconds
        self._listened_s = keep * self._listened_s + report.live_sessions * report.seconds
        self._audio_s = keep * self._audio_s + report.audio_s
        self._around_s = keep * self._around_s + report.steps.around_seconds
        self._live_audio_s = keep * self._live_audio_s + report.live_audio_s
        self._live_decode_s = keep * self._live_decode_s + report.live_decode_s
        # A model of whole stretches has no steps that come at a time: decoding one stretch makes all others wait.
        if self.chunk_s and report.late_steps > LATE_SHARE * report.live_steps:
            self._correction = max(LEAST_CORRECTION, self._correction * LATE_FACTOR)
        else:
            self._correction = min(1.0, self._correction + RECOVERY_PER_S * report.seconds)

    @property
    def capacity(self) -> float:
        """Streams that talk without a pause and can be decoded in time; infinite while nothing is known."""
        return self._correction * self._uncorrected

    @property
    def talk_share(self) -> float:
        """Share of the time that somebody speaks in a session."""
        return min(1.0, self._talked_s / self._listened_s) if self._listened_s else self._settings.talk_share

    def needed(self, old: int, young: int) -> float:
        """Streams that talk at a time, at most, with so many live sessions; young ones are younger than ``YOUNG_S``."""
        return talkers((old, self.talk_share), (young, max(self.talk_share, self._settings.talk_share)))

    @property
    def _uncorrected(self) -> float:
        if not self.chunk_s:
            return self._by_audio
        cost = self._fit.cost
        if cost is None:
            return self._by_profile
        return cost.streams(self.chunk_s, self._max_batch, self._settings.max_load)

    @property
    def _by_audio(self) -> float:
        """For models that decode whole stretches of speech: by the time that a second of audio takes.

        What is done around the steps is known of all sessions together: recordings, which may bring most of the audio,
        have their share of it.
        """
        if self._live_audio_s < YOUNG_S or not self._live_decode_s:
            return self._by_profile
        seconds = self._live_decode_s / self._live_audio_s + self._around_s / self._audio_s
        return self._settings.max_load / seconds

    @property
    def _by_profile(self) -> float:
        settings = self._settings
        if not settings.streams and not settings.cpu_per_audio:
            return self._by_first_steps
        by_cost = settings.max_load * self._cores / settings.cpu_per_audio if settings.cpu_per_audio else 0.0
        return max(float(settings.streams), by_cost)

    @property
    def _by_first_steps(self) -> float:
        if not self.supposed_step_s or not self.chunk_s:
            return math.inf
        return StepCost(0.0, self.supposed_step_s).streams(self.chunk_s, self._max_batch, self._settings.max_load)

    def _talking(self, report: Report) -> float:
        """Sessions that talked, on average; one that sends faster than speech counts as one."""
        streams = report.live_steps * self.chunk_s if self.chunk_s else report.live_audio_s
        return min(float(report.live_sessions), streams / report.seconds)
