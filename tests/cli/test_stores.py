from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.cli.stores import DICTATION_MODEL, words_note
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import InstalledModel, ModelStore
from tests.support import tiny_models


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    """With the bundled models only."""
    return ModelStore(StoreLocations((tmp_path,), tmp_path))


def install_dictation(store: ModelStore) -> InstalledModel:
    manifest = tiny_models.tiny_manifest("moonshine", {"tokens": Path("tokens.txt")}, name=DICTATION_MODEL)
    return store.install(DICTATION_MODEL, lambda _: manifest)


def test_a_model_of_commands_names_the_one_to_fetch_for_open_speech(store: ModelStore) -> None:
    assert words_note(store, store.find("starter-en")).endswith("run `edge-asr models pull moonshine-tiny-en`")


def test_where_that_one_is_installed_it_is_not_to_be_fetched(store: ModelStore) -> None:
    install_dictation(store)
    assert words_note(store, store.find("starter-en")) == (
        "starter-en hears 961 command words only; for open speech say -m moonshine-tiny-en, which is installed"
    )


def test_a_model_that_hears_everything_says_nothing(store: ModelStore) -> None:
    assert words_note(store, install_dictation(store)) == ""


def test_a_graph_that_is_configured_is_not_the_one_that_the_note_tells_of(store: ModelStore) -> None:
    assert words_note(store, store.find("starter-en"), "menu.fst") == ""
