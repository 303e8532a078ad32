from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.commands.phrase_spelling import PhraseSpeller, read_phrase_speller
from edge_asr.commands.spelling import Speller, read_pieces
from edge_asr.errors import ConfigurationError
from edge_asr.store.tokens_file import read_tokens

STARTER = Path(__file__).resolve().parents[2] / "models" / "starter-en-transducer"
SYMBOLS = read_tokens(STARTER / "tokens.txt")
BOTH = [*SYMBOLS, "你", "好"]
"""As bilingual models have them: pieces of English words, and characters."""


@pytest.fixture(scope="module")
def starter() -> PhraseSpeller:
    return read_phrase_speller(STARTER / "tokens.txt", STARTER / "bpe.model")


@pytest.fixture(scope="module")
def both() -> PhraseSpeller:
    return PhraseSpeller(BOTH, Speller(read_pieces(STARTER / "bpe.model"), BOTH))


def written(symbols: list[str], tokens: tuple[int, ...]) -> str:
    return "".join(symbols[token] for token in tokens)


@pytest.mark.parametrize("phrase", ["coffee machine", "Coffee  MACHINE", "\uff43offee machine"])
def test_pieces_have_the_case_and_form_of_the_vocabulary(starter, phrase):
    assert written(SYMBOLS, starter.spell(phrase)) == "▁coffee▁machine"


def test_characters_stand_for_themselves_beside_pieces(both):
    assert written(BOTH, both.spell("你好 Hello")) == "你好▁hello"
    assert written(BOTH, both.spell("hello你")) == "▁hello你"


@pytest.mark.parametrize(
    ("symbols", "phrase", "expected"),
    [
        (["<blk>", "A", "B"], "ab", "AB"),
        (["<blk>", "A", "B", "▁"], "ab a", "▁AB▁A"),
        (["<blk>", "a", "b", " "], "AB a", "ab a"),
        (["<blk>", "你", "好"], "你 好", "你好"),
    ],
)
def test_a_vocabulary_of_characters_is_spelled_out(symbols, phrase, expected):
    speller = PhraseSpeller(symbols, None)
    assert speller.why_not == ""
    assert written(symbols, speller.spell(phrase)) == expected


@pytest.mark.parametrize("phrase", ["日本", "50%", "<blk>", "▁"])
def test_what_the_model_cannot_write_is_named(starter, phrase):
    with pytest.raises(ConfigurationError, match=r"no token for|nothing that is spoken"):
        starter.spell(phrase)


def test_pieces_cannot_be_cut_without_the_file_that_says_how():
    assert "no bpe.model" in PhraseSpeller(SYMBOLS, None).why_not


@given(phrase=st.one_of(st.text(), st.text("abcABC 你好あ'#:/▁<>", max_size=30)))
def test_every_token_is_one_that_text_is_written_with(starter, both, phrase):
    for speller, symbols in ((starter, SYMBOLS), (both, BOTH)):
        try:
            tokens = speller.spell(phrase)
        except ConfigurationError:
            continue
        assert tokens
        assert all(0 < token < len(symbols) and not symbols[token].startswith("<") for token in tokens)
