"""Which gate stands before the engine in a session: none, silence, or a wake word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from edge_asr.engines.base import EngineDescription, Spotter
from edge_asr.pipeline.gate import EngineSteps, Gate, OpenGate, SilenceGate
from edge_asr.pipeline.wake import WakeGate
from edge_asr.settings import GateSettings

SPOTTER_TAIL_S = 1.0
"""Silence after which a spotter has found what there is."""


@dataclass(frozen=True, slots=True)
class WakeOptions:
    """What a session waits for before anything is recognised in it."""

    open_spotter: Callable[[], Spotter]
    """Makes what listens for the wake words of one session, at the engine's rate."""
    listen_ms: int
    """Silence after which they are needed again."""


def steps_of(engine: EngineDescription) -> EngineSteps:
    """When the engine's streams take their steps."""
    first, every, tail = (
        round(length_ms * engine.sample_rate_hz / 1000)
        for length_ms in (engine.first_step_ms, engine.chunk_ms, engine.tail_padding_ms)
    )
    return EngineSteps(first, every, tail)


def silence_gates(settings: GateSettings, engine: EngineDescription) -> Callable[[], Gate]:
    """What makes the gates of sessions."""
    if not (settings.enabled and engine.may_skip_silence):
        return OpenGate
    steps = steps_of(engine)
    return lambda: SilenceGate(settings, engine.sample_rate_hz, steps)


def live_gates(
    settings: GateSettings, engine: EngineDescription, wake: WakeOptions | None
) -> Callable[[bool], Gate] | None:
    """What makes the gates of sessions whose audio cannot wait; ``None`` where they are those of all sessions."""
    if wake is None:
        return None
    open_gate = silence_gates(settings, engine)
    rate_hz = engine.sample_rate_hz
    spotter_steps = EngineSteps(first=0, every=0, tail=round(SPOTTER_TAIL_S * rate_hz))

    def open_wake_gate(is_resumed: bool) -> Gate:
        ear = SilenceGate(settings, rate_hz, spotter_steps)
        listen_samples = round(wake.listen_ms * rate_hz / 1000)
        # One that goes on may have been awake, and what was said then is said again.
        return WakeGate(wake.open_spotter(), ear, open_gate(), listen_samples, rate_hz, is_asleep=not is_resumed)

    return open_wake_gate
