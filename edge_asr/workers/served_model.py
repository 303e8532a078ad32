"""A model as a worker is to serve it: its files, and the settings it is loaded with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from edge_asr.manifest import ModelManifest
from edge_asr.settings import CommandSettings, SecondPassSettings, Settings
from edge_asr.store.store import InstalledModel
from edge_asr.workers.configuration import pack
from edge_asr.workers.enrolled import EnrolledVoices
from edge_asr.workers.memory_estimate import memory_for
from edge_asr.workers.messages import Configure

DIGEST_CHARS = 12


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What one worker is started for.

    Raises:
        ConfigurationError: The files of spoken commands or hotwords cannot be read.
    """

    manifest: ModelManifest
    directory: Path
    """The model's files and its manifest."""
    settings: Settings
    """Groups of the worker and its engine count."""
    vad_model: Path | None = None
    """File of the voice activity detector, where one is installed."""
    punctuation_model: Path | None = None
    """Directory of the punctuation model, where one is installed."""
    second: InstalledModel | None = None
    """The model that hears segments again for their finals."""
    wake: InstalledModel | None = None
    """The model that hears the wake words of live sessions."""
    voices: EnrolledVoices | None = None
    """What tells speakers apart."""
    configure: Configure = field(init=False, repr=False)
    """What its workers are told first; read from the files that the settings name once, here."""

    def __post_init__(self) -> None:
        second, wake = (each.directory if each else None for each in (self.second, self.wake))
        configure = pack(
            self.directory, self.settings, self.vad_model, self.punctuation_model, second, wake, self.voices
        )
        object.__setattr__(self, "configure", msgspec.structs.replace(configure, digest=self.digest))

    @property
    def digest(self) -> str:
        """Beginning of the SHA-256 of its largest file, which holds the weights; empty for a model without files."""
        files = self.manifest.files.values()
        return max(files, key=lambda file: file.size_bytes).sha256[:DIGEST_CHARS] if files else ""

    @property
    def name(self) -> str:
        """As clients ask for it."""
        return self.manifest.name

    @property
    def needed_bytes(self) -> int:
        """Memory that a worker with it takes, by the sizes that the manifest gives."""
        beside = (self.second, self.wake, self.voices.model if self.voices else None)
        manifests = [self.manifest, *(each.manifest for each in beside if each)]
        return sum(memory_for(each, sum(file.size_bytes for file in each.files.values())) for each in manifests)

    def is_like(self, other: ServedModel) -> bool:
        """Whether a worker of the other one would do exactly the same."""
        return self._identity == other._identity

    def beside_the_active_one(self) -> ServedModel:
        """Without what is made for the active model and may fit no other: its decoding graph, its spoken commands,
        its hotwords, its rules, the model behind it."""
        rules = replace(self.settings.engine, rule_fsts=(), rule_fars=(), hr_lexicon="", hr_rule_fsts="")
        engine = replace(rules, graph="", hotwords_file="")
        settings = replace(self.settings, engine=engine, commands=CommandSettings(), second_pass=SecondPassSettings())
        return replace(self, settings=settings, second=None)

    @property
    def _identity(self) -> tuple[object, ...]:
        told = self.configure
        models = (told.model_directory, told.vad_model, told.punctuation_model, told.second_model, told.wake_model)
        speakers = (told.speaker_model, told.voices)
        return (self.manifest, models, speakers, told.commands, told.hotwords, told.settings)
