"""Which streams an engine may take one step of: a mistake here would end the process, or spoil another stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from edge_asr.engines.base import EngineStream


class _Owned(EngineStream, Protocol):
    @property
    def engine(self) -> object:
        """What opened it."""
        ...


OwnStream = TypeVar("OwnStream", bound=_Owned)


def decodable(streams: Sequence[EngineStream], kind: type[OwnStream], engine: object) -> list[OwnStream]:
    """The streams, as the engine's own.

    Args:
        streams: What is to be decoded.
        kind: Class of the engine's streams.
        engine: What they must have been opened by.

    Raises:
        ValueError: There is none, one is another engine's, is there twice, or is not ready.
    """
    if not streams:
        raise ValueError("no stream to decode")
    ours = [stream for stream in streams if isinstance(stream, kind) and stream.engine is engine]
    if len(ours) != len(streams):
        raise ValueError("a stream of another engine cannot be decoded here")
    if len({id(stream) for stream in ours}) != len(ours):
        raise ValueError("a stream may be decoded once per step")
    if not all(stream.is_ready() for stream in ours):
        raise ValueError("a stream is not ready")
    return ours
