"""The model store of this environment, for the commands that need one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from edge_asr.errors import ModelError
from edge_asr.settings import Settings
from edge_asr.store.locations import store_locations
from edge_asr.store.store import DEFAULT_MODEL, InstalledModel, ModelStore

DICTATION_MODEL = "moonshine-tiny-en"
"""Preferred by ``transcribe`` where it is installed: it hears open speech."""


def open_store() -> ModelStore:
    """The store as the environment says."""
    return ModelStore(store_locations(os.environ))


def writable_root() -> Path:
    """The root of the store that is written.

    Raises:
        StoreNotWritable: There is none.
    """
    return store_locations(os.environ).writable()


def choose_model(store: ModelStore, name: str, *, prefers_dictation: bool = False) -> InstalledModel:
    """The model a command works with.

    Args:
        store: Where models are.
        name: What the user or the configuration says; may be empty.
        prefers_dictation: Whether open dictation, where installed, comes before the active model.

    Raises:
        ModelError: The named or the activated model cannot be used.
    """
    if name:
        return store.resolve(name)
    dictation = store.installed_or_none(DICTATION_MODEL) if prefers_dictation else None
    return dictation or store.active()


def unusable_models(store: ModelStore, settings: Settings) -> Iterator[tuple[str, ModelError]]:
    """The settings whose models cannot be used here, each with the reason.

    Args:
        store: Where models are.
        settings: That name them.
    """
    named = {
        "wake.model": settings.wake.model if settings.wake.phrases else "",
        "second_pass.model": settings.second_pass.model,
        "speakers.model": settings.speakers.model,
        "admission.lighter_model": settings.admission.lighter_model,
    }
    wanted = {"model": settings.model} | {key: name for key, name in named.items() if name}
    for key, name in wanted.items():
        try:
            choose_model(store, name)
        except ModelError as error:
            yield key, error


def words_note(store: ModelStore, model: InstalledModel, own_language: str = "") -> str:
    """What the model cannot hear, and which one can; empty for a model that hears anything.

    Args:
        store: Where models are.
        model: The one that hears.
        own_language: Configured graph or sentences; they take the place of the model's own, which the note tells of.
    """
    note = "" if own_language else model.manifest.words_note
    if not note or store.installed_or_none(DICTATION_MODEL) is None:
        return note
    return f"{note.partition(';')[0]}; for open speech say -m {DICTATION_MODEL}, which is installed"


def active_name(store: ModelStore) -> str:
    """Name of the active model, also when it is gone."""
    try:
        return store.active().manifest.name
    except ModelError:
        return DEFAULT_MODEL
