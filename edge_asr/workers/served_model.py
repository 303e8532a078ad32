"""A model as a worker is to serve it: its files, and the settings it is loaded with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from edge_asr.manifest import ModelManifest
from edge_asr.settings import Settings
from edge_asr.workers.configuration import pack
from edge_asr.workers.memory_estimate import memory_for
from edge_asr.workers.messages import Configure


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What one worker is started for."""

    manifest: ModelManifest
    directory: Path
    """The model's files and its manifest."""
    settings: Settings
    """Groups ``engine``, ``endpoint``, ``scheduler`` and ``worker`` count."""
    vad_model: Path | None = None
    """File of the voice activity detector, where one is installed."""

    @property
    def name(self) -> str:
        """As clients ask for it."""
        return self.manifest.name

    @property
    def configure(self) -> Configure:
        """What its workers are told first."""
        return pack(self.directory, self.settings, self.vad_model)

    @property
    def needed_bytes(self) -> int:
        """Memory that a worker with it takes, by the sizes that the manifest gives."""
        return memory_for(self.manifest, sum(file.size_bytes for file in self.manifest.files.values()))

    def is_like(self, other: ServedModel) -> bool:
        """Whether a worker of the other one would do exactly the same."""
        return self._identity == other._identity

    def without_graph(self) -> ServedModel:
        """Without ``engine.graph``, which is made for the active model and fits no other."""
        return replace(self, settings=replace(self.settings, engine=replace(self.settings.engine, graph="")))

    @property
    def _identity(self) -> tuple[object, ...]:
        groups = (self.settings.engine, self.settings.endpoint, self.settings.scheduler, self.settings.worker)
        return (self.manifest, self.directory, self.vad_model, groups)
