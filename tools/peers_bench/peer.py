"""What a peer is to the harness: something that starts, decodes or listens, and ends."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from edge_asr.store.store import InstalledModel
from tools.peers_bench.recordings import Recording

Ability = Literal["decode", "listen", "streams"]
"""``decode``: a recording as fast as possible; ``listen``: at live pace, one at a time; ``streams``: many at once."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A recording, as fast as possible; the start of the program and the loading of the model are not in it."""

    wall_s: float
    cpu_s: float
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """A recording at the pace of speech."""

    flush_s: float
    """From the last audio released to the final delivered."""
    late_s: float
    """Largest delay with which a piece was released."""
    text: str


class Running(Protocol):
    """A peer with its model loaded."""

    @property
    def pid(self) -> int:
        """Top of its process tree."""
        ...

    def decode(self, recording: Recording) -> Decoded:
        """As fast as possible."""
        ...

    def listen(self, recording: Recording) -> Heard:
        """At live pace."""
        ...


class Peer(Protocol):
    """A way to recognise speech."""

    @property
    def name(self) -> str:
        """For tables."""
        ...

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can be measured at."""
        ...

    def start(self, model: InstalledModel | None) -> AbstractContextManager[Running]:
        """Start it with a model, or with its own.

        Raises:
            PeerFailed: It did not come up.
        """
        ...


class PeerFailed(Exception):
    """A peer could not be started, or ended in the middle."""
