"""What the sessions of a loop need to know besides their clients' options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from edge_asr.pipeline.gate import EngineSteps, Gate, OpenGate
from edge_asr.requests import SessionOptions
from edge_asr.sessions.understanding import AS_THE_ENGINE_SAYS, Understanding
from edge_asr.settings import EndpointSettings

STEP_S = 0.1
"""Audio handed to the engine at a time while nobody knows how much its next step takes; bounds what a dropped backlog
cannot take back."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """The same for all of them."""

    sample_rate_hz: int
    """The engine's rate."""
    endpoint: EndpointSettings
    backlog_s: float
    """Audio that may wait for the engine; a live session loses what is older."""
    understanding: Understanding = AS_THE_ENGINE_SAYS
    """What becomes of what the engine hears."""
    is_append_only: bool = False
    """Whether the engine never takes back what it has written."""
    step_s: float = STEP_S
    """Audio of one decoding step, for deadlines."""
    steps: EngineSteps | None = None
    """When a stream takes its steps; ``None`` where nobody knows."""
    lead_in_s: float = 0.0
    """Audio before the settled position that another worker is to hear first; 0 for none."""
    accumulate_s: float = 0.0
    """Audio that is gathered before the engine gets it."""
    open_gate: Callable[[], Gate] = OpenGate
    """Makes the gate of a session whose silence may be skipped."""
    open_live_gate: Callable[[bool], Gate] | None = None
    """Likewise of a session whose audio cannot wait, as a microphone's, where a wake word is needed; called with
    whether the session goes on from another worker."""
    may_imagine: bool = False
    """Whether the engine may write words for what is no speech."""

    @property
    def hears_again(self) -> bool:
        """Whether other models hear each segment when it is over: its audio is kept, its final may be awaited."""
        return self.understanding.second_hearing is not None or self.understanding.speaker_hearing is not None

    def gate_of(self, options: SessionOptions, *, is_resumed: bool) -> Gate:
        """The gate of a session with these options, which may go on from another worker."""
        if options.is_batch:
            return OpenGate()
        if options.is_live and self.open_live_gate is not None:
            return self.open_live_gate(is_resumed)
        return self.open_gate()

    def endpoint_of(self, options: SessionOptions) -> EndpointSettings:
        """When the segments of a session with these options are closed."""
        silence_ms = options.endpoint_silence_ms
        return self.endpoint if silence_ms is None else replace(self.endpoint, silence_ms=silence_ms)
