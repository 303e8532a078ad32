"""The model that tells speech from silence for models that do not stream, where it is installed."""

from __future__ import annotations

from pathlib import Path

from edge_asr.store.store import ModelStore

VAD_MODEL = "silero-vad"


def installed_vad(store: ModelStore) -> Path | None:
    """Its file."""
    model = store.installed_or_none(VAD_MODEL)
    return model.directory / model.manifest.files["model"].path if model else None
