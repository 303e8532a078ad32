"""Which models are loaded with a decoding graph of the configured commands; known to the front, which has no numpy."""

from __future__ import annotations

from edge_asr.commands.graph_library import require_graph_library
from edge_asr.engines.constrained_families import CONSTRAINED_FAMILIES
from edge_asr.engines.providers import ort_provider
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings
from edge_asr.workers.served_model import ServedModel


def takes_command_graph(manifest: ModelManifest, engine: EngineSettings) -> bool:
    """Whether commands are made a graph for it: only sherpa-onnx decodes with one, and only some families."""
    family = FAMILIES.get(manifest.family)
    if family is None or manifest.family in CONSTRAINED_FAMILIES or "bpe" not in manifest.files:
        return False
    return "graph" in family.optional_roles and not ort_provider(engine.provider)


def require_command_graph_possible(model: ServedModel) -> None:
    """Refuse commands, before anything is started for them, where what makes their graph is missing.

    Raises:
        LibraryMissing: ``kaldifst`` is not installed.
    """
    if model.configure.commands and takes_command_graph(model.manifest, model.settings.engine):
        require_graph_library()
