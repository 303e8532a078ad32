"""Spoken commands with models that write what they hear: of a final, the nearest sentence is meant, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edge_asr.commands.interpretation import interpret
from edge_asr.commands.listening import Heard, scored
from edge_asr.commands.nearest import NearestSentence
from edge_asr.commands.network import Network
from edge_asr.commands.reject import score_of_match
from edge_asr.commands.word_network import WordNetwork
from edge_asr.engines.base import Hypothesis, TokenConstraint


class NearestListening:
    """The engine writes what it hears; of a segment that is over, the sentence nearest to that is meant, or none.

    Args:
        network: What may be said.
        words: The same by words.
        min_score: From which score a sentence is believed.
        phrases: What the engine is to expect.
    """

    constraint: TokenConstraint | None = None

    def __init__(self, network: Network, words: WordNetwork, min_score: float, phrases: Sequence[str] = ()) -> None:
        self.phrases = phrases
        self._network = network
        self._min_score = min_score
        self._nearest = NearestSentence(words, frozenset(network.fillers))

    def understand(self, hypothesis: Hypothesis) -> Heard:
        """What was heard."""
        return Heard(hypothesis, None, hypothesis.text)

    def conclude(self, heard: Heard) -> Heard:
        """The sentence where it is believed, its words where those of the heard ones are."""
        hypothesis = heard.hypothesis
        match = self._nearest.find(hypothesis.text)
        if match is None or (sureness := score_of_match(match.distance, match.letters)) < self._min_score:
            return heard
        for text in match.spellings:
            if command := interpret(self._network, text):
                spoken = hypothesis.text if hypothesis.raw_text is None else hypothesis.raw_text
                shown = replace(hypothesis, text=text, raw_text=spoken)
                return Heard(shown, scored(command, sureness), heard.open_text)
        return heard
