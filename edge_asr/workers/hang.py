"""Telling a worker that hangs from one that is slow, soon and without false alarms. Pure: fed with samples.

Time-outs alone must be long: a board that swaps, or shares its core, makes a healthy worker silent for seconds. The
kernel knows better. A process all of whose threads are stopped was stopped by somebody; one that says nothing and
of which no thread has run at all, nor waits for the processor or for a disk, waits for something that does not come: a
worker with sessions wakes every second to say that it lives. One that waits for a core, and gets little of one, is
starved by others: a new one would be starved too, and have everything to load and to hear again.
"""

from __future__ import annotations

from edge_asr.resources.processes import ProcessActivity
from edge_asr.settings import WorkerSettings

SAMPLE_EVERY_S = 0.25
SPOKE_S = 0.5
"""A worker that has said something so lately runs, and is not looked at: the kernel's files of all its threads cost
more than the silence of a session. Credits come more often than this, heartbeats once a second."""

REST_S = 1.0
"""Between two looks at whether there is work."""

LATEST_SAMPLE_S = 1.0
"""Between two samples; when more time has passed, this process was held up itself and knows nothing."""

STOPPED_AFTER_S = 0.2
"""All threads stopped, seen twice."""

ASLEEP_AFTER_S = 1.5
"""Nothing was said, and heartbeats are a second apart: one is overdue by half of that."""
ASLEEP_FOR_S = ASLEEP_AFTER_S - SPOKE_S - SAMPLE_EVERY_S
"""And no thread has run since it was looked at first: not when the heartbeat was due either. One that was only kept
from running would wait for a core (R) then, and not sleep (S)."""

STARVED_SHARE = 0.5
"""One that waits for a core and got less of one than this share of its time-out is starved."""

STOPPED = "it was stopped by a signal"
"""The reason that blames nobody's audio."""

_STOPPED = frozenset("T")
_ASLEEP = frozenset("SI")


class HangWatch:
    """One worker that has sessions.

    Args:
        settings: The time-outs that hold in any case.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._sampled_s = float("-inf")
        self._activity: ProcessActivity | None = None
        self._since_s = 0.0
        self._worked_before_s: float | None = None
        """Processor time that it had used when it was looked at first since it spoke."""

    @staticmethod
    def next_look_s(silent_s: float) -> float:
        """Seconds until the worker is to be looked at, when its last message came ``silent_s`` ago."""
        return max(SAMPLE_EVERY_S, SPOKE_S - silent_s)

    def forget(self) -> None:
        """It has no sessions now; what it does tells nothing."""
        self._activity = self._worked_before_s = None

    def reason(self, activity: ProcessActivity | None, now_s: float, silent_s: float, without_progress_s: float) -> str:
        """Why it is taken to hang, as a clause; empty while it is not.

        Args:
            activity: Of its threads, now; ``None`` when it cannot be read, or need not, since it has just spoken.
            now_s: Monotonic seconds.
            silent_s: Since its last message.
            without_progress_s: Since its decode thread last reported.
        """
        still_s = self._still_s(activity, now_s)
        self._note_work(activity)
        if activity is not None and activity.states == _STOPPED and still_s > STOPPED_AFTER_S:
            return STOPPED
        if activity is not None and activity.states <= _ASLEEP and still_s > ASLEEP_FOR_S and silent_s > ASLEEP_AFTER_S:
            return f"it has not run for {still_s:.1f} s although there is work"
        if silent_s > self._settings.hang_timeout_s and not self._is_starved(activity):
            return f"it did not answer for {silent_s:.0f} s"
        if without_progress_s > self._settings.stall_timeout_s:
            return f"it decoded nothing for {without_progress_s:.0f} s"
        return ""

    def _note_work(self, activity: ProcessActivity | None) -> None:
        if activity is None:
            self._worked_before_s = None
        elif self._worked_before_s is None:
            self._worked_before_s = activity.cpu_s

    def _is_starved(self, activity: ProcessActivity | None) -> bool:
        if activity is None or "R" not in activity.states or self._worked_before_s is None:
            return False
        return activity.cpu_s - self._worked_before_s < STARVED_SHARE * self._settings.hang_timeout_s

    def _still_s(self, activity: ProcessActivity | None, now_s: float) -> float:
        """For how long every sample has been the same."""
        is_late = now_s - self._sampled_s > LATEST_SAMPLE_S
        if activity is None or is_late or activity != self._activity:
            self._activity, self._since_s = activity, now_s
        self._sampled_s = now_s
        return now_s - self._since_s
