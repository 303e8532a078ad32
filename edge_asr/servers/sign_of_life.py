"""What the service manager is told again and again: a sentence for ``systemctl status``, and that we get on."""

from __future__ import annotations

import logging

from edge_asr.servers.progress import ProgressWatch
from edge_asr.servers.systemd import Notifier
from edge_asr.workers.base import PoolStatus

STATUS_EVERY_S = 10.0
"""At least this long between two sentences."""

logger = logging.getLogger(__name__)


class SignOfLife:
    """Feeds the watchdog as long as the workers get on, and renews the sentence when it has changed.

    That it is called at all says that the event loop runs.

    Args:
        notifier: Where it is told.
        watch: Knows whether the workers get on.
        watchdog_s: The manager's period; 0 when it does not wait for anything.
    """

    def __init__(self, notifier: Notifier, watch: ProgressWatch, watchdog_s: float) -> None:
        self.every_s = min(STATUS_EVERY_S, watchdog_s / 3) if watchdog_s else STATUS_EVERY_S
        """How often it is to be given."""
        self._notifier = notifier
        self._watch = watch
        self._has_watchdog = watchdog_s > 0
        self._said = ""
        self._complained = ""

    def give(self, status: PoolStatus, now_s: float) -> None:
        """Once a period.

        Args:
            status: Of the pool, now.
            now_s: Monotonic seconds.
        """
        stuck = self._watch.stuck(status.workers, now_s)
        if bool(stuck) != bool(self._complained):
            logger.critical("the watchdog is %s: %s", "not fed" if stuck else "fed again", stuck or "it goes on")
        self._complained = stuck
        self._say(f"stuck: {stuck}" if stuck else sentence_of(status))
        if self._has_watchdog and not stuck:
            self._notifier.watchdog()

    def _say(self, sentence: str) -> None:
        if sentence != self._said:
            self._said = sentence
            self._notifier.status(sentence)


def sentence_of(status: PoolStatus) -> str:
    """One line that says what the daemon is doing and how it is."""
    if status.ready is None:
        return "loading the model" if status.state == "starting" else f"{status.state}: {status.reason}"
    sessions = f"{status.sessions} of {status.max_sessions} sessions"
    if status.state == "draining":
        return f"stopping, {status.sessions} sessions still run"
    if status.state != "ready":
        return f"{status.state}: {status.reason}; {sessions} wait"
    facts = [f"serving {status.ready.model} on {status.ready.provider}", sessions]
    if status.stats is not None and status.stats.audio_s:
        facts.append(f"real-time factor {status.stats.decode_s / status.stats.audio_s:.3f}")
    if status.restarts:
        facts.append(f"{status.restarts} worker restarts")
    return ", ".join(facts)
