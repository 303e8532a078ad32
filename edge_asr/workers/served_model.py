"""A model as a worker is to serve it: its files, and the settings it is loaded with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from edge_asr.manifest import ModelManifest
from edge_asr.settings import Settings
from edge_asr.workers.configuration import pack
from edge_asr.workers.messages import Configure

BASE_BYTES = 48 << 20
"""The libraries and the decoding state: a worker with the 5 MB model grew by 53 MiB (x86-64, 2026-11-30)."""

BYTES_PER_FILE_BYTE = 2.0
"""The weights, once as read and once as laid out for the processor; 44 MB of Moonshine took 130 MiB at least."""


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
        return memory_for(sum(file.size_bytes for file in self.manifest.files.values()))

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


def memory_for(file_bytes: int) -> int:
    """What a worker takes with a model whose files are so large."""
    return BASE_BYTES + round(BYTES_PER_FILE_BYTE * file_bytes)
