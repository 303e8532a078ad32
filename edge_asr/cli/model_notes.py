"""What a user should know of the models that will listen, before they do."""

from __future__ import annotations

from collections.abc import Iterator

from edge_asr.cli.stores import words_note
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.workers.models import why_no_second_model


def notes_on(store: ModelStore, model: InstalledModel, settings: Settings) -> Iterator[str]:
    """Which words the finals cannot have, and why a configured second pass stays out of use."""
    why_alone = why_no_second_model(model.manifest, settings.second_pass)
    is_heard_again = settings.second_pass.model and not why_alone
    own_language = settings.engine.graph or settings.commands.file
    note = "" if is_heard_again else words_note(store, model, own_language)
    yield from (sentence for sentence in (note, why_alone) if sentence)
