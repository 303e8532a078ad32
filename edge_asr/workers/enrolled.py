"""The voices that were enrolled, on their way to a worker: read by the front, compared by the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edge_asr.errors import ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.settings import SpeakerSettings
from edge_asr.store.store import InstalledModel, ModelStore


@dataclass(frozen=True, slots=True)
class EnrolledVoices:
    """A speaker embedding model, and what it made of the enrolled voices."""

    model: InstalledModel
    embeddings: Mapping[str, tuple[float, ...]]
    """By name."""
    note: str = ""
    """What an operator should read about voices that are left out; empty where all are there."""


def enrolled_voices(store: ModelStore, settings: SpeakerSettings) -> EnrolledVoices | None:
    """What tells speakers apart; ``None`` where no model is configured for it.

    Raises:
        ModelError: The model is not installed, or is none for that.
    """
    if not settings.model:
        return None
    model = speaker_model(store, settings.model)
    shelf = store.speakers.read()
    fitting = {each.name: each.embedding for each in shelf.speakers if each.is_of(model.manifest)}
    others = [each.name for each in shelf.speakers if each.name not in fitting]
    notes = [f"{path} is damaged; enroll that speaker again" for path in shelf.damaged]
    if others:
        notes.append(f"{', '.join(others)}: enrolled with another model than {model.manifest.name}; enroll them again")
    if not fitting:
        notes.append("no speaker is enrolled: `edge-asr speakers enroll NAME FILE...`")
    return EnrolledVoices(model, fitting, "; ".join(notes))


def speaker_model(store: ModelStore, name: str) -> InstalledModel:
    """The installed embedding model of that name.

    Raises:
        ModelError: It is not installed, or is of another kind.
    """
    model = store.resolve(name)
    family = FAMILIES.get(model.manifest.family)
    if family is None or family.kind != "speaker":
        raise ModelUnsupported(name, "it does not tell speakers apart; `edge-asr models list` names those that do")
    return model
