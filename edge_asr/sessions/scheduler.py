"""Which ready sessions are decoded next: one policy, without time and without threads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from edge_asr.requests import SessionOptions


class Schedulable(Protocol):
    """What the policy looks at."""

    @property
    def options(self) -> SessionOptions:
        """The client's wishes; batch work waits for everybody else."""
        ...

    @property
    def oldest_arrival_ns(self) -> int:
        """When the oldest undecoded audio arrived."""
        ...

    @property
    def is_suspect(self) -> bool:
        """Whether its audio may end the process that decodes it."""
        ...


S = TypeVar("S", bound=Schedulable)


def pick_batch(ready: Iterable[S], max_batch: int) -> list[S]:
    """The sessions of the next decoding step.

    Live sessions come before batch ones, and while there is one, no batch session joins: the step would take longer.
    Among equals the one whose audio has waited longest comes first, which is the earliest deadline when all chunks
    are equally long, and lets nobody starve. A suspect is decoded alone: if it ends the process, it is known who did.

    Args:
        ready: Sessions whose stream is ready, each once.
        max_batch: Most sessions of one step, at least 1.
    """
    waiting = list(ready)
    live = [session for session in waiting if not session.options.is_batch]
    chosen = live or waiting
    ordered = sorted(chosen, key=lambda session: session.oldest_arrival_ns)
    if ordered and ordered[0].is_suspect:
        return ordered[:1]
    return [session for session in ordered if not session.is_suspect][:max_batch]
