"""What every model goes through before a worker loads it, and each of those beside the recogniser."""

from __future__ import annotations

from pathlib import Path

from edge_asr.errors import ConfigurationError
from edge_asr.manifest import MANIFEST_FILE, ModelManifest, read_manifest
from edge_asr.store.inspect import inspect_model


def inspected(directory: Path) -> ModelManifest:
    """The manifest of a model whose files were looked into.

    Raises:
        ModelError: The model is missing, damaged or not for this engine.
    """
    manifest = read_manifest(directory / MANIFEST_FILE)
    inspect_model(directory, manifest)
    return manifest


def require_same_rate(setting: str, model: ModelManifest, recogniser: ModelManifest) -> None:
    """See that a model can hear the audio of the recogniser.

    Args:
        setting: Which names the model.
        model: Beside the recogniser.
        recogniser: What decides about the rate.

    Raises:
        ConfigurationError: It hears audio at another rate.
    """
    if model.sample_rate_hz != recogniser.sample_rate_hz:
        raise ConfigurationError(
            f"{setting} = {model.name!r} hears audio at {model.sample_rate_hz} Hz and {recogniser.name} at "
            f"{recogniser.sample_rate_hz} Hz; choose one of the same rate"
        )
