"""What is said of models before they listen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edge_asr.cli.model_notes import notes_on
from edge_asr.cli.stores import open_store
from edge_asr.settings import CommandSettings, EngineSettings, SecondPassSettings, Settings
from edge_asr.store.store import InstalledModel
from tests.support import tiny_models

HEARD_AGAIN = replace(Settings(), second_pass=SecondPassSettings("moonshine-tiny-en"))


@pytest.fixture
def whole() -> InstalledModel:
    """A model that does not stream."""
    return InstalledModel(tiny_models.tiny_manifest("moonshine", {"tokens": Path("tokens.txt")}), Path())


def test_the_words_that_a_model_knows_are_said() -> None:
    store = open_store()
    (note,) = notes_on(store, store.find("starter-en"), Settings())
    assert note.startswith("starter-en hears 961 command words only")


def test_not_where_another_one_writes_the_finals() -> None:
    store = open_store()
    assert list(notes_on(store, store.find("starter-en"), HEARD_AGAIN)) == []


def test_a_second_pass_that_stays_out_of_use_is_said(whole: InstalledModel) -> None:
    (note,) = notes_on(open_store(), whole, HEARD_AGAIN)
    assert "tiny does not stream" in note


def test_who_listens_for_own_sentences_or_an_own_graph_knows_which_words() -> None:
    store = open_store()
    starter = store.find("starter-en")
    assert list(notes_on(store, starter, Settings(commands=CommandSettings(file="lamps.yaml")))) == []
    assert list(notes_on(store, starter, Settings(engine=EngineSettings(graph="digits.fst")))) == []
