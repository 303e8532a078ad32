"""All streaming families through sherpa-onnx's ``OnlineRecognizer``; see :mod:`edge_asr.engines.online`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import sherpa_onnx

from edge_asr.engines.decoding_graph import read_rejection, with_graph
from edge_asr.engines.hotword_tokens import token_table
from edge_asr.engines.native_load import construct, model_files, with_notes
from edge_asr.engines.native_rules import rule_arguments
from edge_asr.engines.online import OnlineEngine
from edge_asr.engines.providers import ProviderChoice
from edge_asr.errors import ConfigurationError
from edge_asr.families import ModelFamily
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

FEATURE_BINS = 80


def load_online(
    directory: Path,
    manifest: ModelManifest,
    family: ModelFamily,
    settings: EngineSettings,
    choice: ProviderChoice,
    profile_prefix: str = "",
) -> OnlineEngine:
    """Load a streaming model; the caller has inspected the files.

    Args:
        directory: Where the files are.
        manifest: What they are.
        family: How they are loaded.
        settings: How they are decoded.
        choice: The provider to try.
        profile_prefix: As in :func:`edge_asr.engines.native_load.session_options`.

    Raises:
        ConfigurationError: The family cannot be decoded as configured.
        ModelError: The engine cannot load the files.
        ProviderUnavailable: The provider did not run and no fallback is allowed.
    """
    files = with_graph(model_files(directory, manifest, family), family, settings)
    require_decodable(family, settings)
    rejection = read_rejection(files["graph"], files["tokens"]) if "graph" in files else None
    factory = getattr(sherpa_onnx.OnlineRecognizer, family.factory)
    with token_table(files["tokens"], with_names=not family.why_no_hotwords(settings.decoding_method)) as table:
        arguments = factory_arguments(family, {**files, "tokens": table.path}, settings, manifest.sample_rate_hz)
        recognizer, choice = construct(
            factory, arguments, model=manifest.name, settings=settings, choice=choice, profile_prefix=profile_prefix
        )
    choice = with_notes(choice, *_notes(settings))
    return OnlineEngine(recognizer, manifest, family, settings, choice, "graph" in files, rejection, table.named)


def factory_arguments(
    family: ModelFamily, files: Mapping[str, Path], settings: EngineSettings, sample_rate_hz: int
) -> dict[str, object]:
    """Arguments of the family's factory, but for provider and threads.

    ``model_type`` is passed for transducers, or the engine would load the encoder a second time to read it.
    """
    arguments: dict[str, object] = {
        **{role: files[role] for role in family.roles},
        "sample_rate": sample_rate_hz,
        "feature_dim": FEATURE_BINS,
        "enable_endpoint_detection": False,
        "decoding_method": settings.decoding_method,
    }
    if family.factory == "from_transducer":
        arguments |= {"model_type": family.model_type, "max_active_paths": settings.max_active_paths}
    if "graph" in files:
        # With a graph the text only changes where the graph has a final state, and what was said may be revised.
        arguments["ctc_graph"] = files["graph"]
    return arguments | rule_arguments(settings)


def require_decodable(family: ModelFamily, settings: EngineSettings) -> None:
    """Refuse a decoding method for which the engine would end the process.

    Raises:
        ConfigurationError: With the method that works.
    """
    if settings.decoding_method != "greedy_search" and not family.model_type:
        raise ConfigurationError(
            f"engine.decoding_method = {settings.decoding_method!r} does not work with models of the family "
            f"{family.name}; set it to 'greedy_search'"
        )


def _notes(settings: EngineSettings) -> list[str]:
    if settings.decoding_method == "modified_beam_search":
        return ["modified_beam_search may write text where there is silence; greedy_search does not"]
    return []
