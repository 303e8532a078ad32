"""The model that tells speakers apart, loaded beside the recogniser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from edge_asr.clock import Clock
from edge_asr.engines.embedding_pass import Embedder, EmbeddingModel
from edge_asr.pipeline.voices import Voices
from edge_asr.sessions.speaker_hearing import SpeakerHearing
from edge_asr.settings import SpeakerSettings
from edge_asr.workers.companions import inspected
from edge_asr.workers.messages import Configure


@dataclass(frozen=True, slots=True)
class LoadedSpeakers:
    """An embedding model that has heard something, and the voices it compares with."""

    model: EmbeddingModel
    voices: Voices
    note: str = ""
    """What an operator should read about voices that are left out; empty where all are there."""

    def hearing(
        self, make: Callable[[EmbeddingModel], Embedder], settings: SpeakerSettings, clock: Clock
    ) -> SpeakerHearing:
        """What says whose voice each segment is.

        Args:
            make: Where and when the model is asked.
            settings: How long finals are held back.
            clock: What that is measured with.
        """
        return SpeakerHearing(make(self.model), self.voices, settings, clock)


def load_speakers(configure: Configure, settings: SpeakerSettings) -> LoadedSpeakers | None:
    """What tells speakers apart; ``None`` where that is not configured.

    Raises:
        ModelError: The model is missing, damaged or not for this engine.
    """
    if not configure.speaker_model:
        return None
    directory = Path(configure.speaker_model)
    manifest = inspected(directory)
    from edge_asr.engines.speaker import load_speaker_model

    model = load_speaker_model(directory, manifest)
    return LoadedSpeakers(model, Voices(configure.voices, settings.threshold), configure.voices_note)
