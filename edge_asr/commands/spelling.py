"""Words to token ids, exactly as SentencePiece cuts them, without SentencePiece.

A ``bpe.model`` is a protobuf message: pieces with scores, and how they are put together. The two ways in use are
read: BPE (the adjacent pair that makes the best piece is joined, again and again; Sennrich et al. 2016) and unigram
(the pieces with the highest sum of scores; Kudo 2018), which files called ``bpe.model`` are as often as not.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from edge_asr.errors import ConfigurationError, ModelDamaged
from edge_asr.store.protobuf_wire import Malformed, fields, integer, messages, text
from edge_asr.store.tokens_file import blank_id, read_tokens

WORD_MARK = "▁"
"""Begins the first piece of each word."""

_PIECES, _TRAINER = 1, 2  # of the model
_PIECE, _SCORE, _TYPE = 1, 2, 3  # of a piece
_MODEL_TYPE = 3  # of the trainer's settings
_NORMAL = (0, 1)  # types of piece: left out, or written
_METHODS: dict[int, Literal["unigram", "bpe"]] = {0: "unigram", 1: "unigram", 2: "bpe"}


@dataclass(frozen=True, slots=True)
class Pieces:
    """The inventory of a SentencePiece model."""

    method: Literal["bpe", "unigram"]
    scores: dict[str, float]
    """Piece to score; the higher, the earlier joined (BPE) or the likelier (unigram)."""


class Speller:
    """Spells words in the tokens of one model."""

    def __init__(self, pieces: Pieces, symbols: Sequence[str]) -> None:
        """``symbols``: the tokens by id, as in ``tokens.txt``."""
        blank = blank_id(list(symbols))
        if blank is None:
            raise ModelDamaged("tokens.txt", "has no blank; decoding graphs are for CTC models")
        self.symbols = tuple(symbols)
        self.blank = blank
        self._pieces = pieces
        self._ids = {symbol: number for number, symbol in enumerate(symbols) if symbol in pieces.scores}
        letters = "".join(pieces.scores)
        self._has_capitals, self._has_small = letters != letters.lower(), letters != letters.upper()

    @property
    def tokens(self) -> tuple[int, ...]:
        """Ids of all tokens that text is written with."""
        return tuple(sorted(self._ids.values()))

    @property
    def letters(self) -> frozenset[str]:
        """What pieces are made of."""
        return frozenset("".join(self._pieces.scores))

    def spell(self, word: str) -> tuple[int, ...]:
        """Token ids of a word; case is that of the model, where it knows only one.

        Raises:
            ConfigurationError: A character of the word is in no token of the model.
        """
        pieces = self.cut(word)
        missing = [piece for piece in pieces if piece not in self._ids]
        if missing:
            characters = ", ".join(dict.fromkeys(repr(piece.removeprefix(WORD_MARK)) for piece in missing))
            raise ConfigurationError(
                f"the word {word!r} cannot be spelled: the model has no token for {characters}; "
                f"write it as it is said, with what the model has: {self._alphabet()}"
            )
        return tuple(self._ids[piece] for piece in pieces)

    def cut(self, word: str) -> list[str]:
        """The pieces of a word; a character that is in none stands alone."""
        marked = WORD_MARK + self._in_the_models_case(unicodedata.normalize("NFKC", word))
        cut = _joined if self._pieces.method == "bpe" else _likeliest
        return cut(marked, self._pieces.scores)

    def read(self, tokens: Sequence[int]) -> str:
        """The text of token ids, as the engine writes it."""
        return "".join(self.symbols[token] for token in tokens).replace(WORD_MARK, " ").strip()

    def _in_the_models_case(self, word: str) -> str:
        if self._has_capitals and self._has_small:
            return word
        return word.upper() if self._has_capitals else word.lower()

    def _alphabet(self) -> str:
        return "".join(sorted({letter for symbol in self._ids for letter in symbol} - {WORD_MARK}))[:80]


def read_speller(bpe_model: Path, tokens: Path) -> Speller:
    """The speller of a model by its two files.

    Raises:
        ModelDamaged: A file is no such file, or they do not belong together.
    """
    pieces, symbols = read_pieces(bpe_model), read_tokens(tokens)
    strange = [symbol for symbol in symbols if not symbol.startswith("<") and symbol not in pieces.scores]
    if strange:
        raise ModelDamaged(bpe_model.name, f"has no piece {strange[0]!r}, unlike {tokens.name}; they are of two models")
    return Speller(pieces, symbols)


def read_pieces(path: Path) -> Pieces:
    """A SentencePiece model's inventory, without its control and unknown symbols.

    Raises:
        ModelDamaged: It is no SentencePiece model, or of a kind that has no pieces (words, characters).
    """
    try:
        model = memoryview(path.read_bytes())
        scores = dict(_piece(piece) for piece in messages(model, _PIECES) if integer(piece, _TYPE) in _NORMAL)
        kind = next((integer(trainer, _MODEL_TYPE) for trainer in messages(model, _TRAINER)), 0)
    except (Malformed, UnicodeDecodeError, struct.error) as error:
        raise ModelDamaged(path.name, "is not a SentencePiece model") from error
    except OSError as error:
        raise ModelDamaged(path.name, f"cannot be read: {error.strerror or error}") from error
    if not scores or kind not in _METHODS:
        raise ModelDamaged(path.name, "is not a SentencePiece model of BPE or unigram pieces")
    return Pieces(_METHODS[kind], scores)


def _piece(message: memoryview) -> tuple[str, float]:
    raw = next((value for number, value in fields(message) if number == _SCORE and isinstance(value, memoryview)), None)
    return text(message, _PIECE), struct.unpack("<f", raw)[0] if raw is not None else 0.0


def _joined(word: str, scores: dict[str, float]) -> list[str]:
    """BPE: joins the adjacent pair with the best score, the first of equals, until no pair makes a piece."""
    pieces = list(word)
    while True:
        joins = [(-scores[pair], i) for i in range(len(pieces) - 1) if (pair := pieces[i] + pieces[i + 1]) in scores]
        if not joins:
            return pieces
        _, at = min(joins)
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]


def _likeliest(word: str, scores: dict[str, float]) -> list[str]:
    """Unigram: the cut with the highest sum of scores, added in single precision as SentencePiece does."""
    longest = max(map(len, scores))
    unknown = np.float32(min(scores.values()) - 10)
    best: list[tuple[np.float32, int]] = [(np.float32(0), 0)] + [(np.float32(-np.inf), 0)] * len(word)
    for start in range(len(word)):
        for end in range(start + 1, min(len(word), start + longest) + 1):
            piece = word[start:end]
            if piece not in scores and end > start + 1:
                continue
            score = best[start][0] + np.float32(scores.get(piece, unknown))
            if score > best[end][0]:
                best[end] = (score, start)
    pieces: list[str] = []
    end = len(word)
    while end:
        start = best[end][1]
        pieces.append(word[start:end])
        end = start
    return pieces[::-1]
