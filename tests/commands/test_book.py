from __future__ import annotations

from collections.abc import Sequence

import pytest

from edge_asr.commands import book as book_module
from edge_asr.commands.book import CommandBook, constrained, unable
from edge_asr.commands.listening import OPEN_SPEECH
from edge_asr.commands.templates import read_templates
from edge_asr.errors import ConfigurationError, Overloaded, ProtocolViolation
from edge_asr.settings import CommandSettings
from tests.commands.command_cases import LIGHTS, vocabulary

OTHER = "intents: {Go: {data: [{sentences: [go]}]}}"

NODES = len(read_templates({"other.yaml": OTHER}).network.letters)


class Vocabulary:
    """Counts how often it is read."""

    def __init__(self) -> None:
        self.read = 0

    def __call__(self) -> Sequence[str]:
        self.read += 1
        return vocabulary()


@pytest.fixture
def words() -> Vocabulary:
    return Vocabulary()


@pytest.fixture
def book(words: Vocabulary) -> CommandBook:
    return CommandBook(constrained(words, CommandSettings()), {"lights.yaml": LIGHTS})


def test_a_session_that_asks_for_nothing_gets_the_configured_set(book):
    assert book.listening(None).constraint is not None
    assert book.listening(None) is book.listening(None)


def test_a_session_may_ask_for_open_speech(book):
    assert book.listening("") is OPEN_SPEECH


def test_without_a_configured_set_there_is_open_speech_and_no_vocabulary_is_read(words):
    book = CommandBook(constrained(words, CommandSettings()), {})
    assert book.listening(None) is OPEN_SPEECH
    assert words.read == 0


def test_a_sessions_own_set_is_read_once(book, words):
    book.prepare(OTHER)
    assert book.listening(OTHER) is book.listening(OTHER)
    assert words.read == 1


def test_what_is_wrong_with_a_sessions_set_is_the_clients_fault(book):
    book.prepare("intents: {}")
    with pytest.raises(ProtocolViolation, match="the session's commands: there are no intents"):
        book.listening("intents: {}")


def test_the_oldest_sets_of_sessions_are_forgotten_by_their_size(book, monkeypatch):
    monkeypatch.setattr(book_module, "MOST_NODES_KEPT", 2 * NODES - 1)
    first = book.listening(OTHER)
    book.listening(OTHER + " # another")
    assert book.listening(OTHER) is not first


def test_sets_in_use_leave_no_room_and_those_that_are_only_kept_do(book, monkeypatch):
    monkeypatch.setattr(book_module, "MOST_NODES_AT_ONCE", 2 * NODES - 1)
    held = book.listening(OTHER)
    with pytest.raises(Overloaded, match=r"need \d+ nodes, and those of the others hold \d+ of \d+; try again in 10 s"):
        book.listening(OTHER + " # another")
    del held
    assert book.listening(OTHER + " # another").constraint is not None


def test_what_was_read_ahead_is_not_read_again_though_it_would_have_been_forgotten(book, monkeypatch):
    monkeypatch.setattr(book_module, "MOST_NODES_KEPT", 2 * NODES - 1)
    book.prepare(OTHER)
    book.prepare(OTHER + " # another")
    monkeypatch.setattr("edge_asr.commands.templates.read_templates", None)  # reading would fail now
    assert book.listening(OTHER).constraint is not None
    assert book.listening(OTHER + " # another").constraint is not None


def test_a_refusal_that_was_found_ahead_is_said_once(book, monkeypatch):
    monkeypatch.setattr(book_module, "MOST_NODES_AT_ONCE", NODES - 1)
    book.prepare(OTHER)
    with pytest.raises(Overloaded):
        book.listening(OTHER)
    monkeypatch.setattr(book_module, "MOST_NODES_AT_ONCE", NODES)
    assert book.listening(OTHER).constraint is not None


def test_a_configured_set_that_is_wrong_leaves_the_one_in_use(book):
    before = book.listening(None)
    with pytest.raises(ConfigurationError, match=r"new\.yaml"):
        book.use({"new.yaml": "intents: {}"})
    assert book.listening(None) is before
    book.use({"new.yaml": OTHER})
    assert book.listening(None) is not before


def test_a_model_that_cannot_listen_says_so():
    with pytest.raises(ConfigurationError, match="it cannot"):
        CommandBook(unable("it cannot"), {"lights.yaml": LIGHTS})
    with pytest.raises(ProtocolViolation, match="it cannot"):
        CommandBook(unable("it cannot"), {}).listening(OTHER)
