"""What the foreman and the workers tell each other; the same on this machine and on a cluster."""

from __future__ import annotations

from typing import Literal

import msgspec

from edge_asr.events import Final
from edge_asr.requests import Channel
from edge_asr.workers.messages import Configure


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What every worker is to hear with, and how."""

    configure: Configure
    model: str
    """Store name, by which a worker on another machine finds its own copy."""
    digests: dict[str, str]
    """File of the model to its SHA-256: a worker with another model of that name must not answer."""
    version: str
    """Of edge-asr: a worker of another one would write other words."""
    channel: Channel | Literal["each"]
    raw: str = ""
    """How samples without a header are written, such as ``s16le:16000:1``; empty: recordings have headers."""


class Task(msgspec.Struct, frozen=True):
    """One recording to hear."""

    number: int
    """Which of the recordings, from 0; the answer repeats it."""
    path: str
    """Absolute, as of :func:`~edge_asr.filenames.to_text`; on a cluster the same on every machine."""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The worker has loaded its model."""


class Listening(msgspec.Struct, frozen=True, tag="listening"):
    """The worker is still at it."""


class Heard(msgspec.Struct, frozen=True):
    """One channel of a recording, or all of them mixed."""

    channel: str
    """``left``, ``right``, …; empty unless every channel is heard by itself."""
    finals: tuple[Final, ...]
    audio_s: float
    rtf: float
    warnings: tuple[str, ...] = ()


class Done(msgspec.Struct, frozen=True, tag="done"):
    """A recording was heard."""

    number: int
    heard: tuple[Heard, ...]


class Unusable(msgspec.Struct, frozen=True, tag="unusable"):
    """A recording cannot be heard, whoever tries."""

    number: int
    code: str
    message: str


class Lost(msgspec.Struct, frozen=True, tag="lost"):
    """The worker ended while it had this recording."""

    number: int
    message: str


class Returned(msgspec.Struct, frozen=True, tag="returned"):
    """The worker ended before it began with this recording."""

    number: int


class Unfit(msgspec.Struct, frozen=True, tag="unfit"):
    """The worker cannot hear anything: no model, no memory."""

    code: str
    message: str


Outcome = Done | Unusable | Lost | Returned
FromChild = Ready | Listening | Done | Unusable | Unfit
