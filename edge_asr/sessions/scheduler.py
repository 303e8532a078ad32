"""Which ready sessions are decoded next, and whether to wait for more of them: one policy, without time or threads.

Earliest deadline first. A step of a live stream is due one chunk after its audio arrived, when the next one begins to
wait; a stream that sends faster than speech gets the deadlines of speech, so it cannot push others aside. All streams
of an engine have chunks of one length, so this is also fair: nobody is decoded twice while another waits for once.

Recordings that nobody listens to come after everybody else; while live sessions are open they are decoded one at a
time, so that whoever becomes ready waits for one stream's step at most.

Where the streams of a step are decoded side by side, by threads, that takes more work than one after the other: threads
are woken, on cores whose caches know nothing of the model. While there is time it is left alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from edge_asr.requests import SessionOptions
from edge_asr.settings import SchedulerSettings


class Schedulable(Protocol):
    """What the policy looks at."""

    @property
    def options(self) -> SessionOptions:
        """The client's wishes; batch work waits for everybody else."""
        ...

    @property
    def ready_ns(self) -> int:
        """When the audio of the next step was complete."""
        ...

    @property
    def due_ns(self) -> int:
        """When the next step is to be done."""
        ...

    @property
    def is_closing(self) -> bool:
        """Whether only the end of its audio is left to decode: somebody waits for the final."""
        ...

    @property
    def is_suspect(self) -> bool:
        """Whether its audio may end the process that decodes it."""
        ...


WORTH_SHARING = 0.25
"""Share of its time that the decode thread spends in the engine, from which on a step is shared out among threads: all
streams that come at once wait for each other until then, a quarter of a step's audio at most."""

S = TypeVar("S", bound=Schedulable)


@dataclass(frozen=True, slots=True)
class Choice(Generic[S]):
    """What to do now."""

    batch: tuple[S, ...] = ()
    """Sessions of the next step; empty when nobody is ready, or when it is better to wait."""
    wait_until_ns: int | None = None
    """Ask again then, or when more audio has come; ``None`` when there is nothing to wait for."""


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The policy."""

    max_batch: int
    """Most live sessions of one step, at least 1."""
    window_ns: int = 0
    """How long a step may wait for more sessions to become ready; 0 decodes at once what is ready."""
    is_shared_out: bool = False
    """Whether the sessions of a step are decoded by as many threads."""

    @classmethod
    def for_engine(cls, settings: SchedulerSettings, streams_per_step: int) -> Scheduler:
        """The policy for an engine.

        Args:
            settings: What is allowed.
            streams_per_step: Streams that the engine decodes in one call in less time than one after the other, 0 for
                as many as there are. Beyond that a larger batch would only keep its first stream waiting for its last,
                and there is no work to be saved by waiting.
        """
        if streams_per_step == 0:
            return cls(settings.max_batch, round(settings.window_ms * 1e6))
        most = min(streams_per_step, settings.max_batch)
        return cls(most, is_shared_out=most > 1)

    def choose(self, ready: Collection[S], may_follow: int, now_ns: int, busy_share: float = 1.0) -> Choice[S]:
        """The sessions of the next decoding step.

        A suspect is decoded alone: if it ends the process, it is known who did.

        Args:
            ready: Sessions whose stream is ready, each once.
            may_follow: Live sessions that are not ready and may become so.
            now_ns: Monotonic time.
            busy_share: Of the time of late that was spent in steps, from 0 to 1.
        """
        live = sorted((session for session in ready if not session.options.is_batch), key=_urgency)
        if not live:
            recordings = sorted(ready, key=_urgency)
            is_alone = may_follow > 0 or any(session.is_suspect for session in recordings)
            return Choice(tuple(recordings[: 1 if is_alone else self.max_batch]))
        if live[0].is_suspect:
            return Choice(tuple(live[:1]))
        batch = tuple(session for session in live if not session.is_suspect)[: self.max_batch]
        if self.is_shared_out and busy_share < WORTH_SHARING and not any(session.is_closing for session in live):
            return Choice(batch[:1])
        until_ns = self._wait_until_ns(batch, may_follow)
        return Choice((), until_ns) if until_ns > now_ns else Choice(batch)

    def _wait_until_ns(self, batch: tuple[S, ...], may_follow: int) -> int:
        """0: do not wait; the batch is full, or nobody can join, or somebody waits for a final."""
        if not self.window_ns or len(batch) >= self.max_batch or not may_follow:
            return 0
        if any(session.is_closing for session in batch):
            return 0
        first_ready_ns = min(session.ready_ns for session in batch)
        return min(first_ready_ns + self.window_ns, *(session.due_ns for session in batch))


def _urgency(session: Schedulable) -> tuple[int, int]:
    return session.due_ns, session.ready_ns
