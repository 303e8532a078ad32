"""Sums over the decoding steps of one engine: what the capacity is worked out from. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from edge_asr.requests import SessionOptions


class Decoded(Protocol):
    """What is looked at of a session that took part in a step."""

    @property
    def options(self) -> SessionOptions:
        """The client's wishes."""
        ...


class StepWork:
    """Counts from the moment it was made; n streams and t seconds a step."""

    def __init__(self) -> None:
        self.streams_squared = 0
        """Sum of n²."""
        self.stream_decode_s = 0.0
        """Sum of n t."""
        self.live_streams = 0
        """Streams of sessions that somebody waits for."""
        self.live_decode_s = 0.0
        """Their part of the time."""
        self.late_streams = 0
        """Of them, those whose step ended after it was due."""

    def add(self, batch: Sequence[Decoded], due_ns: Sequence[int | None], started_ns: int, ended_ns: int) -> None:
        """A step is done.

        Args:
            batch: Who took part; not empty.
            due_ns: When each was to be done; ``None`` for a stream that only has its end left, which is always at once.
            started_ns: When the step began.
            ended_ns: And ended.
        """
        streams, seconds = len(batch), (ended_ns - started_ns) / 1e9
        are_live = [not session.options.is_batch for session in batch]
        live = sum(are_live)
        self.streams_squared += streams * streams
        self.stream_decode_s += streams * seconds
        self.live_streams += live
        self.live_decode_s += seconds * live / streams
        self.late_streams += sum(
            is_live and due is not None and ended_ns > due for is_live, due in zip(are_live, due_ns, strict=True)
        )
