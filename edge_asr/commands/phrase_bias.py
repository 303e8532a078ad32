"""Phrases as a :class:`~edge_asr.engines.base.TokenBias`: what each token gains where a phrase may stand.

Phrases are followed character by character, without regard to case and accents, so it makes no difference how the
model cuts them into tokens. They begin and end at the borders of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from edge_asr.commands.folding import fold
from edge_asr.commands.token_trie import ROOT, TokenTrie
from edge_asr.engines.base import Gains, Hotword
from edge_asr.errors import ConfigurationError

REMEMBERED = 4_096
"""States whose gains are not worked out twice."""


@dataclass(slots=True)
class _Node:
    children: dict[str, int] = field(default_factory=dict)
    value: float = 0.0
    """What has been gained up to here."""
    kept: float = 0.0
    """Of that, what stays when nothing of it goes on: the value of the last whole phrase on the way here."""
    is_end: bool = False


class PhraseBias:
    """Gains of a vocabulary.

    Args:
        phrases: Each with what every character of it gains, nats.
        trie: The vocabulary.
        vocabulary: Text of each token by id, a space where a word begins.
    """

    def __init__(self, phrases: Iterable[tuple[str, float]], trie: TokenTrie, vocabulary: Sequence[str]) -> None:
        self._trie = trie
        self._nodes = [_Node()]
        self._phrases: set[str] = set()
        for phrase, gain in phrases:
            self._add(f" {' '.join(fold(phrase).split())}", gain)
        self._settle()
        self.most = max((node.value for node in self._nodes), default=0.0)
        self._inner = np.array([token for token, text in enumerate(vocabulary) if text[:1].isalnum()], np.int64)
        self.gains = lru_cache(REMEMBERED)(self._gains)

    def begin(self) -> int:
        """No phrase has begun."""
        return ROOT

    def at_end(self, state: int) -> float:
        """A phrase that is not whole is none."""
        node = self._nodes[state]
        return 0.0 if node.is_end else node.kept - node.value

    def is_in(self, text: str) -> bool:
        """Whether one of the phrases stands in a text."""
        letters = "".join(char if char.isalnum() or char == "'" else " " for char in fold(text))
        spaced = f" {' '.join(letters.split())} "
        return any(f"{phrase} " in spaced for phrase in self._phrases)

    def _add(self, phrase: str, gain: float) -> None:
        self._phrases.add(phrase)
        here = ROOT
        for depth, char in enumerate(phrase, start=1):
            child = self._nodes[here].children.get(char)
            if child is None:
                child = self._nodes[here].children[char] = len(self._nodes)
                self._nodes.append(_Node())
            here = child
            self._nodes[here].value = max(self._nodes[here].value, depth * gain)
        self._nodes[here].is_end = True

    def _settle(self) -> None:
        waiting = [(ROOT, 0.0)]
        while waiting:
            here, kept = waiting.pop()
            node = self._nodes[here]
            node.kept = kept
            waiting += [(child, node.value if node.is_end else kept) for child in node.children.values()]

    def _gains(self, state: int) -> Gains:
        node, lost = self._nodes[state], self.at_end(state)
        found: dict[int, tuple[float, int]] = {}
        if node.is_end:  # inside a longer word it was not the phrase
            found = dict.fromkeys(self._inner.tolist(), (node.kept - node.value, ROOT))
        for token, reached in self._reached(ROOT):
            found[token] = (lost + self._nodes[reached].value, reached)
        if state != ROOT:
            for token, reached in self._reached(state):
                gain = self._nodes[reached].value - node.value
                if token not in found or found[token][0] < gain:
                    found[token] = (gain, reached)
        tokens = np.array(list(found), np.int64)
        gains = np.array([gain for gain, _ in found.values()], np.float32)
        return Gains(tokens, np.array([reached for _, reached in found.values()], np.int64), gains, lost)

    def _reached(self, state: int) -> Iterator[tuple[int, int]]:
        """Tokens all of whose characters go on from a state, and where they lead."""
        waiting = [(ROOT, state)]
        while waiting:
            letters, here = waiting.pop()
            for char, child in self._nodes[here].children.items():
                below = self._trie.children[letters].get(char)
                if below is not None:
                    waiting.append((below, child))
                    for token in self._trie.tokens[below]:
                        yield token, child


class VocabularySpeller:
    """Phrases as tokens of a vocabulary, the longest that fit one after the other: how many a phrase takes tells what
    its characters gain.

    Args:
        trie: The vocabulary.
        vocabulary: As for :class:`PhraseBias`.
    """

    def __init__(self, trie: TokenTrie, vocabulary: Sequence[str]) -> None:
        self._trie = trie
        self._vocabulary = vocabulary

    def spell(self, phrase: str) -> tuple[int, ...]:
        """Token ids of a phrase.

        Raises:
            ConfigurationError: A character of it is in no token.
        """
        letters = f" {' '.join(fold(phrase).split())}"
        ids, at = [], 0
        while at < len(letters):
            token, length = self._longest(letters, at)
            if not length:
                letter = letters[at:].strip()[:1]
                raise ConfigurationError(f"{phrase!r} cannot be spelled: the model has no token for {letter!r}")
            ids.append(token)
            at += length
        return tuple(ids)

    def bias(self, hotwords: Sequence[Hotword]) -> PhraseBias:
        """What these hotwords, which were spelled here, make of the vocabulary."""
        return PhraseBias(map(self._phrase, hotwords), self._trie, self._vocabulary)

    def _phrase(self, hotword: Hotword) -> tuple[str, float]:
        text = "".join(self._vocabulary[token] for token in hotword.tokens)
        return text, hotword.boost * len(hotword.tokens) / max(1, len(fold(text)))

    def _longest(self, letters: str, begin: int) -> tuple[int, int]:
        found, node = (0, 0), ROOT
        for length, char in enumerate(letters[begin:], start=1):
            child = self._trie.children[node].get(char)
            if child is None:
                break
            node = child
            if self._trie.tokens[node]:
                found = (self._trie.tokens[node][0], length)
        return found
