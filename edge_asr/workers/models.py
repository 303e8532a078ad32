"""Which models sessions may ask for by name. A name of the store, never a path: what a client says is not opened."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from edge_asr.errors import ConfigurationError, ModelNotFound
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest
from edge_asr.settings import SecondPassSettings, Settings
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.store.voice_activity import installed_vad
from edge_asr.workers.base import OfferedModel
from edge_asr.workers.enrolled import enrolled_voices
from edge_asr.workers.served_model import ServedModel

LONGEST_NAME = 40
"""Characters of a client's own word that are repeated to it."""


class Models(Protocol):
    """Where models come from."""

    def offered(self) -> tuple[OfferedModel, ...]:
        """What can be asked for."""
        ...

    def find(self, name: str) -> ServedModel:
        """The model of that name, to be served beside the active one.

        Raises:
            ModelNotFound: There is none; with the names that there are.
        """
        ...


class StoreModels:
    """Those of the store, served with the settings of the daemon.

    Args:
        store: Where they are installed.
        settings: How they are served.
    """

    def __init__(self, store: ModelStore, settings: Settings) -> None:
        self._store = store
        self.settings = settings

    def offered(self) -> tuple[OfferedModel, ...]:
        """Installed models that recognise speech."""
        manifests = (model.manifest for model in self._store.installed() if recognises_speech(model))
        return tuple(OfferedModel(each.name, each.languages, not each.words_note) for each in manifests)

    def names(self) -> tuple[str, ...]:
        """Of what is offered."""
        return tuple(model.name for model in self.offered())

    def find(self, name: str) -> ServedModel:
        """The installed model of that name.

        Raises:
            ModelNotFound: There is none; with the names that there are.
        """
        for model in self._store.installed():
            if model.manifest.name == name and recognises_speech(model):
                return served(self._store, model, self.settings).beside_the_active_one()
        raise unknown_model(name, self.names())


class NoOtherModels:
    """Only the active model is served."""

    def offered(self) -> tuple[OfferedModel, ...]:
        """None."""
        return ()

    def find(self, name: str) -> ServedModel:
        """There is none.

        Raises:
            ModelNotFound: Always.
        """
        raise unknown_model(name, ())


def served(store: ModelStore, model: InstalledModel, settings: Settings) -> ServedModel:
    """An installed model with the settings it is to be served with, and what of its store stands beside it.

    Raises:
        ModelError: The model of the second pass, of the wake words, or of the speakers is not installed.
    """
    punctuation = installed_punctuation(store)
    second = second_model(store, model.manifest, settings.second_pass)
    wake = store.resolve(settings.wake.model) if settings.wake.phrases else None
    voices = enrolled_voices(store, settings.speakers)
    return ServedModel(
        model.manifest, model.directory, settings, installed_vad(store), punctuation, second, wake, voices
    )


def installed_punctuation(store: ModelStore) -> Path | None:
    """Directory of the punctuation model, where one is installed."""
    model = store.of_kind("punctuation")
    return model.directory if model else None


def second_model(store: ModelStore, first: ModelManifest, settings: SecondPassSettings) -> InstalledModel | None:
    """The model that hears the segments of another one again; ``None`` where none is configured.

    A model that does not stream hears its segments whole anyway, and has none behind it.

    Raises:
        ModelError: It is not installed.
        ConfigurationError: It does not hear whole segments.
    """
    if not settings.model or why_no_second_model(first, settings):
        return None
    model = store.resolve(settings.model)
    family = FAMILIES.get(model.manifest.family)
    if family is not None and family.kind != "segment":
        raise ConfigurationError(
            f"second_pass.model = {settings.model!r} does not hear whole segments; name a model that does not stream, "
            "such as moonshine-tiny-en"
        )
    return model


def why_no_second_model(first: ModelManifest, settings: SecondPassSettings) -> str:
    """Why the configured second model stays out of use; empty where it is used, or none is configured."""
    family = FAMILIES.get(first.family)
    if not settings.model or family is None or family.kind == "streaming":
        return ""
    return (
        f"second_pass.model = {settings.model!r} is not used: {first.name} does not stream, and hears each segment "
        "whole anyway; a second pass stands behind a streaming model"
    )


def unknown_model(name: str, installed: tuple[str, ...]) -> ModelNotFound:
    """What a client is told that asks for a model which is not there."""
    cut = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    if not installed:
        return ModelNotFound(cut, "this daemon serves one model only; leave the name out")
    return ModelNotFound(cut, f"installed are: {', '.join(installed)}")


def recognises_speech(model: InstalledModel) -> bool:
    """Whether sessions can use it."""
    family = FAMILIES.get(model.manifest.family)
    return family is None or family.recognises_speech
