"""Which stages the texts of a session go through."""

from __future__ import annotations

import pytest

from edge_asr.errors import ConfigurationError, ModelDamaged
from edge_asr.pipeline.writing import AS_HEARD, NO_MARKS, NO_MODEL, NO_NUMBERS, WritingBook
from edge_asr.requests import SessionOptions
from edge_asr.settings import TextSettings

PLAIN = SessionOptions()


class Marks:
    def write(self, text: str) -> str:
        return text.capitalize() + "."


def written(book: WritingBook, text: str, options: SessionOptions = PLAIN) -> str:
    return book.of_session(options).writer.write(text)


def test_nothing_is_done_unless_asked_for() -> None:
    assert WritingBook(TextSettings(), ["en"]).of_session(PLAIN).writer is AS_HEARD


def test_a_session_asks_for_figures() -> None:
    assert written(WritingBook(TextSettings(), ["en"]), "twenty", SessionOptions(itn=True)) == "20"


def test_a_session_asks_for_none() -> None:
    book = WritingBook(TextSettings(itn=True), ["en"])
    assert book.of_session(SessionOptions(itn=False)).writer is AS_HEARD


def test_punctuation_comes_before_figures() -> None:
    book = WritingBook(TextSettings(itn=True, punctuation=True), ["en"], Marks)
    assert written(book, "it is twenty") == "It is 20."


def test_what_is_written_already_gets_no_marks() -> None:
    book = WritingBook(TextSettings(punctuation=True), ["en"], Marks)
    assert written(book, "Hello, you") == "Hello, you"


def test_without_a_punctuation_model_there_are_capitals_and_a_note() -> None:
    book = WritingBook(TextSettings(punctuation=True), ["en"])
    assert (written(book, "hello"), book.notes) == ("Hello", (NO_MODEL,))


def test_nobody_is_told_to_install_what_the_model_writes_itself() -> None:
    book = WritingBook(TextSettings(punctuation=True), ["en"], is_written=True)
    assert (written(book, "Hello, you"), book.notes) == ("Hello, you", ())


def test_a_punctuation_model_that_cannot_be_loaded_is_told_and_not_tried_again() -> None:
    tried = []

    def load() -> Marks:
        tried.append(True)
        raise ModelDamaged("punctuation-en", "bpe.vocab is empty")

    book = WritingBook(TextSettings(punctuation=True), ["en"], load)
    assert (written(book, "hello"), len(tried)) == ("Hello", 1)
    assert "bpe.vocab is empty" in book.notes[0]


def test_other_languages_get_capitals() -> None:
    book = WritingBook(TextSettings(punctuation=True), ["ru"], Marks)
    assert (written(book, "привет"), book.notes) == ("Привет", (NO_MARKS,))


def test_a_language_without_figures_is_told() -> None:
    (ignored,) = WritingBook(TextSettings(), ["de"]).of_session(SessionOptions(itn=True)).ignored
    assert (ignored.code, ignored.why) == ("itn_ignored", NO_NUMBERS)


def test_the_session_says_which_language_of_the_model_it_is() -> None:
    book = WritingBook(TextSettings(itn=True), ["de", "en"])
    assert written(book, "twenty", SessionOptions(language="en")) == "20"


def test_figures_that_cannot_be_written_are_a_mistake_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ConfigurationError, match="wetext"):
        WritingBook(TextSettings(itn=True), ["zh"])


def test_a_session_that_asks_for_them_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    (ignored,) = WritingBook(TextSettings(), ["zh"]).of_session(SessionOptions(itn=True)).ignored
    assert ignored.code == "itn_ignored"


def test_only_tables_that_a_session_brings_in_are_worth_waiting_for() -> None:
    wanted = SessionOptions(itn=True)
    assert WritingBook(TextSettings(), ["zh"]).takes_preparing(wanted)
    assert not WritingBook(TextSettings(), ["en"]).takes_preparing(wanted)
    assert not WritingBook(TextSettings(), ["zh"]).takes_preparing(PLAIN)


def test_a_punctuation_model_is_loaded_once() -> None:
    book, wanted = WritingBook(TextSettings(), ["en"], Marks), SessionOptions(punctuation=True)
    assert book.takes_preparing(wanted)
    assert written(book, "hello", wanted) == "Hello."
    assert not book.takes_preparing(wanted)


def test_finals_are_said_otherwise_than_partials_where_something_is_configured() -> None:
    assert [WritingBook(settings, ["en"]).is_rewriting for settings in (TextSettings(), TextSettings(itn=True))] == [
        False,
        True,
    ]
