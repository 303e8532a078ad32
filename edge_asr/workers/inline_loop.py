"""The decode loop of recordings that nobody listens to meanwhile: all models take their turns on its own thread."""

from __future__ import annotations

from edge_asr.clock import Clock
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.settings import Settings
from edge_asr.workers.configuration import WorkerConfiguration
from edge_asr.workers.loaded_model import LoadedModel


def inline_loop(loaded: LoadedModel, settings: Settings | WorkerConfiguration, clock: Clock) -> DecodeLoop:
    """A loop over all that a model was loaded with, but for the gate of live sessions and wake words."""
    understanding = loaded.understanding(settings, clock)
    return DecodeLoop(loaded.engine, settings.endpoint, settings.scheduler, clock, understanding)
