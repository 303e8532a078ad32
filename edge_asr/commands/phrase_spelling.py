"""Phrases to token ids, whatever the vocabulary is made of: pieces of words, characters, or both.

Words are cut by the model's SentencePiece file. Chinese and Japanese characters and Korean syllables that it does not
know are tokens of their own. Without the file, a vocabulary of characters is spelled out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from edge_asr.commands.spelling import WORD_MARK, Speller, read_pieces
from edge_asr.errors import ConfigurationError
from edge_asr.store.tokens_file import read_tokens

_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Kana, ideographs and Hangul syllables."""
_ANY = re.compile(f"[{_IDEOGRAPH}]")
_WORD = re.compile(r"\S+")
_UNIT = re.compile(f"[{_IDEOGRAPH}]|[^{_IDEOGRAPH}]+")

_SPACES = (WORD_MARK, " ", "<space>", "|")
"""How vocabularies of characters write what stands between words."""


class PhraseSpeller:
    """Spells phrases in the tokens of one model; every id it gives is one of its vocabulary's.

    Args:
        symbols: The tokens by id, as in ``tokens.txt``.
        words: Spells what is not written character by character; ``None`` where the model brings no pieces.
    """

    def __init__(self, symbols: Sequence[str], words: Speller | None) -> None:
        self._ids = {symbol: number for number, symbol in reversed(list(enumerate(symbols))) if not _is_special(symbol)}
        self._words = words
        self._unit = _UNIT if words is None or not _ANY.search("".join(words.letters)) else _WORD
        self._fold = _folding("".join(self._ids))
        self._space = next((symbols.index(space) for space in _SPACES if space in symbols), None)

    @property
    def why_not(self) -> str:
        """Why nothing can be spelled; empty where phrases can."""
        if self._words is None and any(symbol.startswith(WORD_MARK) and len(symbol) > 2 for symbol in self._ids):
            return "its vocabulary is of pieces of words, and it has no bpe.model that tells how words are cut"
        return ""

    def spell(self, phrase: str) -> tuple[int, ...]:
        """Token ids of a phrase.

        Raises:
            ConfigurationError: A character of it is in no token.
        """
        ids: list[int] = []
        for word in unicodedata.normalize("NFKC", phrase).replace(WORD_MARK, " ").split():
            if self._words is None and self._space is not None and (ids or self._marks_the_first_word):
                ids.append(self._space)
            for unit in self._unit.findall(word):
                ids += self._spell_unit(unit)
        if not ids:
            raise ConfigurationError(f"{phrase!r} has nothing that is spoken")
        return tuple(ids)

    @property
    def _marks_the_first_word(self) -> bool:
        return self._ids.get(WORD_MARK) == self._space

    def _spell_unit(self, unit: str) -> Sequence[int]:
        if self._words is not None and not (self._unit is _UNIT and _ANY.match(unit)):
            return self._words.spell(unit)
        return tuple(self._characters(unit))

    def _characters(self, word: str) -> Iterator[int]:
        for character in self._fold(word):
            if character not in self._ids:
                raise ConfigurationError(f"{word!r} cannot be spelled: the model has no token for {character!r}")
            yield self._ids[character]


def read_phrase_speller(tokens: Path, bpe_model: Path | None) -> PhraseSpeller:
    """The speller of a model by its files.

    Raises:
        ModelDamaged: A file is not what it should be.
    """
    symbols = read_tokens(tokens)
    # Vocabularies of both kinds have characters that the SentencePiece file does not know.
    return PhraseSpeller(symbols, Speller(read_pieces(bpe_model), symbols) if bpe_model is not None else None)


def _is_special(symbol: str) -> bool:
    """``<blk>``, ``<unk>``, ``#0`` and the like: never written for something that was said."""
    return len(symbol) > 2 and ((symbol[0], symbol[-1]) == ("<", ">") or (symbol[0] == "#" and symbol[1:].isdigit()))


def _folding(letters: str) -> Callable[[str], str]:
    """Case of the vocabulary, where it knows only one."""
    if letters == letters.lower():
        return str.lower
    return str.upper if letters == letters.upper() else str
