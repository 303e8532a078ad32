"""Which word follows which, as sentences show it: a bigram model that backs off to single words.

What was seen is discounted by the number of different words that followed (Witten and Bell 1991, method C), and the
rest goes to all words by how often they come at all. Pairs that gain least in likelihood are dropped (after Stolcke
1998), so that the model fits a small board.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from edge_asr.errors import ConfigurationError

START = ""
"""What comes before the first word of a sentence; no word is empty."""


@dataclass(frozen=True, slots=True)
class Bigram:
    """Probabilities. After each word, and after ``START``, those of the next word and of the end add up to one."""

    single: Mapping[str, float]
    """Word to its probability where what came before says nothing; with ``end_anywhere`` they add up to one."""
    end_anywhere: float
    """Probability of the end, likewise."""
    following: Mapping[str, Mapping[str, float]]
    """Word or ``START`` to the words that are likelier after it, with their probabilities."""
    end: Mapping[str, float]
    """Word or ``START`` to the probability that the sentence ends there."""
    back_off: Mapping[str, float]
    """Word or ``START`` to the factor of ``single`` for every other word."""


def estimate_bigram(
    words: Iterable[str], sentences: Iterable[Sequence[str]], *, pairs: int = 12_000, evenly: float = 0.6
) -> Bigram:
    """The model of sentences that are typical.

    Args:
        words: All that may be said.
        sentences: What is said, word by word.
        pairs: How many pairs of words to keep at most.
        evenly: Share of the probability of single words that goes to all of them alike, more than 0 and up to 1:
            typical sentences, above all invented ones, tell little of the words that are missing from them.

    Raises:
        ConfigurationError: There is no word or no sentence, a sentence has another word, or a number is out of range.
    """
    if not 0 < evenly <= 1 or pairs < 0:
        raise ConfigurationError(f"evenly = {evenly} must be above 0 and up to 1, and pairs = {pairs} at least 0")
    counts = _Counts(dict.fromkeys(words), sentences)
    return _Estimate(counts, pairs, evenly).bigram


class _Counts:
    """How often what came after what."""

    def __init__(self, words: Mapping[str, None], sentences: Iterable[Sequence[str]]) -> None:
        self.words = words
        self.after: dict[str, Counter[str]] = defaultdict(Counter)
        self.ends: Counter[str] = Counter()
        self.single: Counter[str] = Counter()
        for sentence in sentences:
            self._add(sentence)
        if not words or not self.single:
            raise ConfigurationError("there are no words, or no sentences; write one a line")

    def _add(self, sentence: Sequence[str]) -> None:
        if strange := [word for word in sentence if word not in self.words]:
            raise ConfigurationError(f"a sentence has the word {strange[0]!r}; add it to the list of words")
        before = START
        for word in sentence:
            self.after[before][word] += 1
            before = word
        if sentence:
            self.single.update(sentence)
            self.ends[before] += 1

    def seen(self, before: str) -> int:
        """How often the word came, or a sentence began."""
        return self.after[before].total() + self.ends[before]

    def choices(self, before: str) -> int:
        """How many different things followed."""
        return len(self.after[before]) + bool(self.ends[before])


class _Estimate:
    def __init__(self, counts: _Counts, pairs: int, evenly: float) -> None:
        self._counts = counts
        total = counts.single.total()
        self._end_anywhere = counts.ends.total() / (total + counts.ends.total())
        share = 1 - self._end_anywhere
        alike = evenly / len(counts.words)
        self._single = {word: share * ((1 - evenly) * counts.single[word] / total + alike) for word in counts.words}
        kept = self._best(pairs)
        histories = (START, *counts.words)
        end = {before: self._probability(before, counts.ends[before], self._end_anywhere) for before in histories}
        self.bigram = Bigram(
            single=self._single,
            end_anywhere=self._end_anywhere,
            following=kept,
            end=end,
            back_off={before: self._rest(end[before], kept.get(before, {})) for before in histories},
        )

    def _probability(self, before: str, count: int, otherwise: float) -> float:
        seen, choices = self._counts.seen(before), self._counts.choices(before)
        return (count + choices * otherwise) / (seen + choices) if seen else otherwise

    def _best(self, pairs: int) -> dict[str, dict[str, float]]:
        """The pairs without which the sentences would lose most likelihood."""
        found: list[tuple[float, str, str, float]] = []
        for before, after in self._counts.after.items():
            factor = self._probability(before, 0, 1.0)
            for word, count in after.items():
                probability = self._probability(before, count, self._single[word])
                gain = count * math.log(probability / (factor * self._single[word]))
                found.append((-gain, before, word, probability))
        kept: dict[str, dict[str, float]] = defaultdict(dict)
        for _gain, before, word, probability in sorted(found)[:pairs]:
            kept[before][word] = probability
        return kept

    def _rest(self, end: float, kept: Mapping[str, float]) -> float:
        """What is left for all other words, by what they have where they stand alone."""
        others = 1 - self._end_anywhere - sum(self._single[word] for word in kept)
        left = 1 - end - sum(kept.values())
        return left / others if others > 0 else 0.0
