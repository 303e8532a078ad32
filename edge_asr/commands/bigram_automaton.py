"""From a bigram model to an automaton over tokens: a word's own path, shared by all words that may come before it.

Behind each word there is a direct way to those that are likely next, and a move back to where any word may follow.
There the words share their beginnings, and each part of a word costs what the likeliest word behind it still needs, so
that the decoder sees early which words are rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from edge_asr.commands.automaton import Automaton, smallest
from edge_asr.commands.bigram import START, Bigram
from edge_asr.commands.drawing import BACK_OFF, Drawing, Label, Spell
from edge_asr.errors import ConfigurationError

HIGHEST_SCALE = 10.0


def bigram_automaton(bigram: Bigram, spell: Spell, scale: float, word_cost: float = 0.0) -> Automaton:
    """The automaton of a bigram model.

    Args:
        bigram: The model.
        spell: Word to token ids.
        scale: What a negative logarithm of a probability is multiplied by, 0 to ``HIGHEST_SCALE``.
        word_cost: Added for each word, in nats.

    Raises:
        ConfigurationError: A word cannot be spelled, the scale is out of range, or the automaton grows too large.
        LibraryMissing: ``kaldifst`` is not installed.
    """
    if not 0 <= scale <= HIGHEST_SCALE:
        raise ConfigurationError(f"the scale {scale} of a language is outside 0 to {HIGHEST_SCALE:g}")
    return _BigramDrawing(bigram, spell, scale, word_cost).automaton()


class _BigramDrawing:
    def __init__(self, bigram: Bigram, spell: Spell, scale: float, word_cost: float) -> None:
        self._bigram, self._scale, self._word_cost = bigram, scale, word_cost
        self._drawing = Drawing(spell, 0.0)
        self._spelled = {word: spell(word) for word in bigram.single}
        self._start, self._end, self._any = (self._drawing.new_state() for _ in range(3))
        self._behind = {word: self._drawing.new_state() for word in bigram.single}

    def automaton(self) -> Automaton:
        own = {word: self._own_path(word) for word in self._spelled}
        for before, place in ((START, self._start), *self._behind.items()):
            for word, probability in self._bigram.following.get(before, {}).items():
                first = self._spelled[word][0]
                self._drawing.add(place, Label(first, self._cost(probability) + self._word_cost), own[word])
            if (factor := self._bigram.back_off[before]) > 0:
                self._drawing.add(place, Label(BACK_OFF, self._cost(factor)), self._any)
            if before != START and (end := self._bigram.end[before]) > 0:
                self._drawing.add_free(place, self._end, self._cost(end))
        self._draw_any()
        return smallest(self._drawing, self._start, self._end)

    def _cost(self, probability: float) -> float:
        return -self._scale * math.log(probability)

    def _own_path(self, word: str) -> int:
        """Where the word goes on behind its first token, without a choice, to behind the word."""
        place = self._behind[word]
        for token in reversed(self._spelled[word][1:]):
            before = self._drawing.new_state()
            self._drawing.add(before, Label(token), place)
            place = before
        return place

    def _draw_any(self) -> None:
        beginnings = _Beginning()
        for word, probability in self._bigram.single.items():
            beginnings.add(self._spelled[word], self._cost(probability) + self._word_cost, self._behind[word])
        waiting = [(beginnings, 0.0, self._any)]
        while waiting:
            here, paid, place = waiting.pop()
            for token, cost, behind in here.words:
                self._drawing.add(place, Label(token, cost - paid), behind)
            for token, longer in here.longer.items():
                cheapest = min(longer.costs())
                after = self._drawing.new_state()
                self._drawing.add(place, Label(token, cheapest - paid), after)
                waiting.append((longer, cheapest, after))


@dataclass(slots=True)
class _Beginning:
    """The beginning that some words share."""

    words: list[tuple[int, float, int]] = field(default_factory=list)
    """Last token, cost and state behind of the words that end one token later."""
    longer: dict[int, _Beginning] = field(default_factory=dict)

    def add(self, tokens: tuple[int, ...], cost: float, behind: int) -> None:
        first, *rest = tokens
        if rest:
            self.longer.setdefault(first, _Beginning()).add(tuple(rest), cost, behind)
        else:
            self.words.append((first, cost, behind))

    def costs(self) -> Iterator[float]:
        """Of all words that begin so."""
        yield from (cost for _, cost, _ in self.words)
        for longer in self.longer.values():
            yield from longer.costs()
