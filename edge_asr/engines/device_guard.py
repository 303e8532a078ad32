"""An NPU that fails is a matter for the whole worker, not for the session that it happened to.

Its next steps fail as well, or give no text at all, and what it has already heard is lost with its states. So the
failure leaves the decode thread and ends the process; another worker hears the audio again.
"""

from __future__ import annotations

from collections.abc import Sequence

from edge_asr.engines.base import Engine, EngineDescription, EngineStream, StreamOptions
from edge_asr.errors import EngineFailed, ProviderFailed


class GuardedEngine:
    """An engine on a device; otherwise exactly the engine."""

    def __init__(self, engine: Engine, provider: str) -> None:
        self._engine = engine
        self._provider = provider

    @property
    def sample_rate_hz(self) -> int:
        """The engine's."""
        return self._engine.sample_rate_hz

    def describe(self) -> EngineDescription:
        """The engine's."""
        return self._engine.describe()

    def open_stream(self, options: StreamOptions) -> EngineStream:
        """A stream of the engine."""
        return self._engine.open_stream(options)

    def decode(self, streams: Sequence[EngineStream]) -> None:
        """One step of each stream.

        Raises:
            ProviderFailed: The device did not run it.
        """
        try:
            self._engine.decode(streams)
        except EngineFailed as error:
            raise ProviderFailed(self._provider, error.reason) from error

    def close(self) -> None:
        """Free the engine."""
        self._engine.close()
