from __future__ import annotations

import io
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.commands.spelling import Speller, read_pieces, read_speller
from edge_asr.errors import ConfigurationError, ModelDamaged

STARTER = Path(__file__).resolve().parents[2] / "models" / "starter-en"
TOKENS = STARTER / "tokens.txt"

WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=25)


@pytest.fixture(scope="module")
def starter() -> Speller:
    return read_speller(STARTER / "bpe.model", TOKENS)


@pytest.fixture(scope="module")
def reference() -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_file=str(STARTER / "bpe.model"))


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def trained(request, tmp_path_factory) -> Path:
    """A small model of either kind."""
    folder = tmp_path_factory.mktemp(request.param)
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter((STARTER / "words.txt").read_text().split()),
        model_writer=written,
        vocab_size=200,
        model_type=request.param,
        minloglevel=2,
    )
    path: Path = folder / "bpe.model"
    path.write_bytes(written.getvalue())
    return path


@given(word=WORDS)
def test_words_are_spelled_as_sentencepiece_spells_them(starter, reference, word):
    assert list(starter.spell(word)) == reference.encode(word)


def test_the_vocabulary_is_spelled_as_sentencepiece_spells_it(starter, reference):
    words = (STARTER / "words.txt").read_text().split()
    assert [list(starter.spell(word)) for word in words] == reference.encode(words)


@given(word=WORDS)
def test_both_methods_cut_as_sentencepiece_does(trained, word):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(trained))
    symbols = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]
    speller = Speller(read_pieces(trained), ["<blk>", *symbols[1:]])
    assert speller.cut(word) == processor.encode(word, out_type=str)


def test_reading_is_the_reverse_of_spelling(starter):
    assert starter.read([token for word in ("turn", "it", "on") for token in starter.spell(word)]) == "turn it on"


def test_case_is_that_of_the_model(starter):
    assert starter.spell("Kitchen") == starter.spell("kitchen")


@pytest.mark.parametrize(("word", "character"), [("what's", '"\'"'), ("10", "'1', '0'"), ("naïve", "'ï'")])
def test_what_cannot_be_spelled_is_named_with_the_next_step(starter, word, character):
    with pytest.raises(ConfigurationError) as caught:
        starter.spell(word)
    assert f"the word {word!r} cannot be spelled: the model has no token for {character}" in str(caught.value)
    assert "with what the model has: abcdefghijklmnopqrstuvwxyz" in str(caught.value)


def test_files_of_two_models_are_refused(tmp_path: Path):
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("<blk> 0\n▁zzz 1\n", encoding="utf-8")
    with pytest.raises(ModelDamaged, match=r"has no piece '▁zzz', unlike tokens.txt"):
        read_speller(STARTER / "bpe.model", tokens)


def test_tokens_without_a_blank_are_refused(tmp_path: Path):
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("te 0\n", encoding="utf-8")
    with pytest.raises(ModelDamaged, match="has no blank; decoding graphs are for CTC models"):
        read_speller(STARTER / "bpe.model", tokens)


@pytest.mark.parametrize("content", [b"", b"no such model", b"\x0a\xff"])
def test_what_is_no_sentencepiece_model_is_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "bpe.model"
    path.write_bytes(content)
    with pytest.raises(ModelDamaged, match="is not a SentencePiece model"):
        read_pieces(path)


def test_a_missing_model_is_named(tmp_path: Path):
    with pytest.raises(ModelDamaged, match=r"'bpe.model': cannot be read: No such file"):
        read_pieces(tmp_path / "bpe.model")
