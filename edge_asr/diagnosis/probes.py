"""What can only be found out by trying, in processes of their own: native code may end the process that loads it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from edge_asr.engines.provider_table import CPU
from edge_asr.engines.providers import KNOWN_PROVIDERS, choose_provider
from edge_asr.engines.trial import trial_load
from edge_asr.errors import EdgeAsrError, ProviderUnavailable
from edge_asr.families import FAMILIES
from edge_asr.settings import EngineSettings
from edge_asr.store.store import InstalledModel
from edge_asr.workers.command import worker_environment

_TIMEOUT_S = 30.0
"""Of a small model, and of a sound library that asks every device."""

_LIST_DEVICES = """
from edge_asr.errors import LibraryMissing
from edge_asr.sources.microphone import input_devices
try:
    input_devices()
except LibraryMissing as error:
    print(error)
"""


def try_model(
    model: InstalledModel, settings: EngineSettings, vad_model: Path | None = None, timeout_s: float = 120.0
) -> EdgeAsrError | None:
    """Load a model and let it decode; what went wrong, or ``None``."""
    try:
        trial_load(model.directory, model.manifest, settings, timeout_s, vad_model)
    except EdgeAsrError as error:
        return error
    return None


def try_providers(model: InstalledModel) -> Mapping[str, str]:
    """Every provider that some build of the engine knows, with the reason why it does not run here.

    Args:
        model: A small one; it is loaded on each provider that the installed build does not rule out by itself.

    Returns:
        Name to reason; empty for a provider that ran.
    """
    return {name: _why_not(name, model) for name in KNOWN_PROVIDERS}


def _why_not(provider: str, model: InstalledModel) -> str:
    settings = EngineSettings(provider=provider)
    if provider != CPU:
        try:
            choose_provider(settings, FAMILIES[model.manifest.family])
        except ProviderUnavailable as error:
            return _without_advice(error.reason)
    failure = try_model(model, settings, timeout_s=_TIMEOUT_S)
    return "" if failure is None else _without_advice(str(failure))


def _without_advice(sentence: str) -> str:
    """What is the case; what to do stands behind the semicolon."""
    return sentence.partition(";")[0]


def try_sound_library() -> str:
    """Why sound devices cannot be asked for; empty when they can."""
    try:
        child = subprocess.run(
            [sys.executable, "-P", "-c", _LIST_DEVICES],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            env=worker_environment(os.environ, malloc_arenas=1),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer within {_TIMEOUT_S:g} s"
    if child.returncode != 0:
        return f"the process that asked it ended with {child.returncode}"
    return child.stdout.strip()
