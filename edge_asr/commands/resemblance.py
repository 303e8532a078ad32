"""How much written words sound alike: what a recogniser that spells by ear makes of a word, and where it cuts it.

The distance of two words is the mean of three edit distances: of their letters, of classes of letters (vowels; k, q, g
and hard c; t and d; …), and of the classes without vowels. So one vowel for another costs a third of a letter, as does
t for d, and a vowel too many two thirds. Levenshtein distances of all pairs are computed in native code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from edge_asr.commands.folding import fold_template
from edge_asr.commands.word_network import IDEOGRAPH

MOST_RUN = 4
"""Heard pieces that one word of a sentence may have become."""

BOUNDARY = 0.25
"""Letters that a boundary between words costs where one has it and the other has not."""

LETTERS_OF_A_DIGIT = 4
"""What a digit counts where it was not heard, as much as the word for it."""

SHORTEST_CUT = 4
"""Letters of words that may be two."""

_SOUNDS = ((re.compile(r"c(?=[eiy])"), "s"), (re.compile(r"ph"), "f"), (re.compile(r"(?<=[a-z])gh|h"), ""))
_CLASSES = str.maketrans("eiouycqgzdbvnrw", "aaaaakkkstpfmll")
_DOUBLED = re.compile(r"(.)\1+")

Costs = npt.NDArray[np.float32]


class Piece(NamedTuple):
    """A heard word, or what comes before or behind a cut in it."""

    text: str
    word: str
    """The whole word."""
    begins_word: bool


class Resemblance:
    """Of the words of sentences to what was heard.

    Args:
        words: Of the sentences; spaces around them do not matter.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [word.strip() for word in words]
        self._forms = _forms(self._words)
        self._weights = np.array([_weight(word) for word in self._words], np.float32)
        self._has_digits = np.array([any(map(str.isdecimal, word)) for word in self._words], bool)

    def pieces_of(self, heard: Sequence[str]) -> list[Piece]:
        """Words as they were heard, cut in two where that makes both more like words of the sentences."""
        cuts = [(word, place) for word in dict.fromkeys(heard) for place in range(1, len(word)) if _may_be_two(word)]
        texts = [*heard, *(word[:place] for word, place in cuts), *(word[place:] for word, place in cuts)]
        nearest = self._distances(texts).min(axis=0)
        whole = dict(zip(heard, nearest.tolist(), strict=False))
        best: dict[str, tuple[float, int]] = {}
        lefts = nearest[len(heard) : len(heard) + len(cuts)].tolist()
        rights = nearest[len(heard) + len(cuts) :].tolist()
        for (word, place), left, right in zip(cuts, lefts, rights, strict=True):
            both = left + right + BOUNDARY
            if both < min(whole[word], best.get(word, (np.inf, 0))[0]):
                best[word] = both, place
        pieces = []
        for word in heard:
            place = best[word][1] if word in best else 0
            parts = (word[:place], word[place:]) if place else (word,)
            pieces += [Piece(part, word, begins_word=number == 0) for number, part in enumerate(parts)]
        return pieces

    def costs(self, heard: Sequence[Piece]) -> Costs:
        """Letters by which each word differs from what was heard.

        Returns:
            Of each word, begun at each position, over 0 to ``MOST_RUN`` pieces; shape (words, positions, run + 1).
        """
        count = len(heard)
        places = [(begin, run) for begin in range(count) for run in range(1, MOST_RUN + 1) if begin + run <= count]
        distances = self._distances(["".join(piece.text for piece in heard[at : at + run]) for at, run in places])
        table = np.full((len(self._words), count + 1, MOST_RUN + 1), np.inf, np.float32)
        table[:, :, 0] = self._weights[:, None]
        for column, (begin, run) in enumerate(places):
            joined = sum(piece.begins_word for piece in heard[begin + 1 : begin + run])
            boundaries = joined + (not heard[begin].begins_word)
            table[:, begin, run] = distances[:, column] + BOUNDARY * boundaries
        return table

    def _distances(self, texts: Sequence[str]) -> Costs:
        """Shape (words, texts); numbers in digits are the same or nothing like it."""
        whole, *others = (
            cdist(own, other, scorer=Levenshtein.distance, dtype=np.uint16).astype(np.float32)
            for own, other in zip(self._forms, _forms(texts), strict=True)
        )
        total: Costs = (whole + sum(others)) / np.float32(1 + len(others))
        total[self._has_digits[:, None] & (whole > 0)] = np.inf
        return total


def words_of(text: str) -> list[str]:
    """Words as they are compared."""
    apart = IDEOGRAPH.sub(lambda found: f" {found.group()} ", fold_template(text).replace("'", ""))
    return apart.split()


def written(pieces: Sequence[Piece]) -> str:
    """Pieces as words again."""
    return "".join(" " * piece.begins_word + piece.text for piece in pieces).strip()


def _may_be_two(word: str) -> bool:
    return len(word) >= SHORTEST_CUT and word.isalpha()


def _forms(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    classes = [_classes(word) for word in words]
    return list(words), classes, [text[:1] + text[1:].replace("a", "") for text in classes]


def _classes(word: str) -> str:
    for sound, letters in _SOUNDS:
        word = sound.sub(letters, word)
    return _DOUBLED.sub(r"\1", word.translate(_CLASSES))


def _weight(word: str) -> int:
    return sum(LETTERS_OF_A_DIGIT if letter.isdecimal() else 1 for letter in word)
