"""From an automaton over tokens to the decoding graph that sherpa-onnx searches with a CTC model's scores.

An arc's input label is a token id plus one, because 0 means "takes no frame"; with the blank at 0, blank is 1. One arc
is one frame. Each state of the automaton becomes one state in which the last frame was blank, and one for each token
that leads there, in which it was that token and may last; a token that is said twice needs a blank between (Graves
et al. 2006). The text is spelled from the input labels of the best path that ends in a final state.

CTC models put most of their trust into the blank, the more so the stranger the voice: without a discount for tokens, a
sentence loses its short words and its optional parts first. Speech of any kind is a loop over all tokens, each dearer
than in a sentence. A sentence is therefore preferred to free spelling as long as it does not lose more score than that;
else the text is what the tokens spell freely, and that is how rejected speech is told: it is no sentence of the grammar
(``engines.decoding_graph``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edge_asr.commands.automaton import Automaton, build_automaton, build_from_words
from edge_asr.commands.bigram import Bigram
from edge_asr.commands.bigram_automaton import bigram_automaton
from edge_asr.commands.drawing import ANY_SPEECH, BACK_OFF, MOST_ARCS, Label
from edge_asr.commands.grammar import Expression
from edge_asr.commands.graph_library import graph_library_missing
from edge_asr.commands.network import Network
from edge_asr.commands.spelling import Speller
from edge_asr.commands.word_graph import word_graph
from edge_asr.engines.decoding_graph import ANY_SPEECH_OUTPUT
from edge_asr.errors import ConfigurationError

EPSILON = 0


@dataclass(frozen=True, slots=True)
class Costs:
    """What a path pays beside its acoustic score, in nats; ``tools/grammar_accuracy.py`` measures what is best."""

    token: float = -3.5
    """For each token of a sentence: the more, the more of what was said is taken for silence."""
    word: float = 0.0
    """For each word of a sentence, beside its tokens."""
    any_speech: float = 4.0
    """For taking up speech of any kind: the less, the readier everything is rejected."""
    any_token: float = 3.0
    """For each token of it, beside what a token of a sentence costs; the less, the readier long speech is rejected."""

    def __post_init__(self) -> None:
        for name in ("token", "word", "any_speech", "any_token"):
            value = getattr(self, name)
            if not (math.isfinite(value) and -100 <= value <= 100):
                raise ConfigurationError(f"the cost {name} = {value} is outside -100 to 100")


WORD_LOOP_COSTS = Costs(token=0.0)
"""For words in any order: only their sound holds them together, and a discount would turn long ones into short ones."""

BIGRAM_COSTS = Costs(token=-2.0)
"""Where typical sentences hold them together, the discount brings back short words without making them up."""


@dataclass(frozen=True, slots=True)
class Arc:
    """One frame, or none where the label is ``EPSILON``."""

    source: int
    label: int
    target: int
    cost: float = 0.0
    is_any_speech: bool = False


@dataclass(slots=True)
class DecodingGraph:
    """States 0 to n - 1; 0 is the start."""

    states: int = 0
    arcs: list[Arc] = field(default_factory=list)
    final: dict[int, float] = field(default_factory=dict)
    """State where a text may end, to the cost of ending there."""

    def new_state(self) -> int:
        """A state without arcs."""
        self.states += 1
        return self.states - 1

    def add(self, arc: Arc) -> None:
        """An arc more.

        Raises:
            ConfigurationError: The graph has become too large.
        """
        if len(self.arcs) >= MOST_ARCS:
            raise ConfigurationError(f"the decoding graph needs more than {MOST_ARCS} arcs; split the grammar")
        self.arcs.append(arc)

    def write(self, path: Path) -> None:
        """The graph as an OpenFst file; the same graph gives the same bytes.

        Raises:
            OSError: It cannot be written.
            LibraryMissing: ``kaldifst`` is not installed.
        """
        path.write_bytes(b"")  # OpenFst would only say that it failed, not why.
        if not to_openfst(self).write(str(path)):
            raise OSError(f"{path} could not be written whole; is the disk full?")


@dataclass(frozen=True, slots=True)
class Language:
    """A grammar in the tokens of a model: its graph, and which texts are sentences of it."""

    automaton: Automaton
    graph: DecodingGraph
    speller: Speller

    def accepts(self, text: str) -> bool:
        """Whether a text, as it was recognised, is a sentence; otherwise the speech was rejected, or is unfinished."""
        try:
            tokens = [token for word in text.split() for token in self.speller.spell(word)]
        except ConfigurationError:
            return False
        return self.automaton.accepts(tokens)


def build_language(expression: Expression, speller: Speller, costs: Costs | None = None) -> Language:
    """The decoding graph of an expression.

    Raises:
        ConfigurationError: A word cannot be spelled, nothing can be said, or the graph becomes too large.
        LibraryMissing: ``kaldifst`` is not installed.
    """
    costs = costs or Costs()
    automaton = build_automaton(expression, speller.spell, costs.word)
    return Language(automaton, expand(automaton, speller.blank, speller.tokens, costs), speller)


def build_command_graph(network: Network, speller: Speller, costs: Costs | None = None) -> DecodingGraph:
    """The decoding graph of sentence templates, which rejects what is none of them.

    Raises:
        ConfigurationError: There is a wildcard, nothing can be said, or the graph becomes too large.
        LibraryMissing: ``kaldifst`` is not installed.
    """
    automaton = build_from_words(word_graph(network), speller.spell)
    return expand(automaton, speller.blank, speller.tokens, costs or Costs())


def build_bigram_graph(bigram: Bigram, speller: Speller, scale: float, costs: Costs | None = None) -> DecodingGraph:
    """The decoding graph of words in any order, of which some orders are likelier.

    Args:
        bigram: How likely.
        speller: Of the model.
        scale: What the likelihood of the words counts beside the model's score, 0 (nothing) to 10.
        costs: ``BIGRAM_COSTS`` when absent.

    Raises:
        ConfigurationError: A word cannot be spelled, the scale is out of range, or the graph becomes too large.
        LibraryMissing: ``kaldifst`` is not installed.
    """
    costs = costs or BIGRAM_COSTS
    automaton = bigram_automaton(bigram, speller.spell, scale, costs.word)
    return expand(automaton, speller.blank, speller.tokens, costs)


def expand(automaton: Automaton, blank: int, tokens: tuple[int, ...], costs: Costs) -> DecodingGraph:
    """The graph of an automaton. ``tokens`` are those that speech of any kind is spelled with."""
    return _Expansion(automaton, blank + 1, tokens, costs).graph


class _Expansion:
    """Each state of the automaton as "the last frame was blank" and, for each token that leads there, "was it"."""

    def __init__(self, automaton: Automaton, blank: int, tokens: tuple[int, ...], costs: Costs) -> None:
        self.graph = DecodingGraph()
        self._blank, self._tokens, self._costs = blank, tokens, costs
        self._silent = [self.graph.new_state() for _ in automaton.arcs]
        self._heard: list[dict[int, int]] = [{} for _ in automaton.arcs]
        self._any_speech: dict[int, int] = {}
        for labels in automaton.arcs:
            for label, target in labels.items():
                if label.token >= 0:
                    self._hear(target, label.token)
        for state, labels in enumerate(automaton.arcs):
            for label, target in labels.items():
                if label.token == BACK_OFF:
                    for token in self._heard[state]:
                        self._hear(target, token)
        self.graph.final[0] = 0.0  # Nothing need be said.
        for state, labels in enumerate(automaton.arcs):
            self._expand(state, labels, automaton.final.get(state))

    def _hear(self, state: int, token: int) -> None:
        if token not in self._heard[state]:
            self._heard[state][token] = self.graph.new_state()

    def _expand(self, state: int, labels: dict[Label, int], final: float | None) -> None:
        silent = self._silent[state]
        self.graph.add(Arc(silent, self._blank, silent))
        self._follow(silent, None, labels, final)
        for token, heard in self._heard[state].items():
            self.graph.add(Arc(heard, token + 1, heard))
            self.graph.add(Arc(heard, self._blank, silent))
            self._follow(heard, token, labels, final)

    def _follow(self, place: int, last: int | None, labels: dict[Label, int], final: float | None) -> None:
        """What may come after a place, where ``last`` was heard in the last frame."""
        if final is not None:
            self.graph.final[place] = min(final, self.graph.final.get(place, final))
        for (token, cost), target in labels.items():
            if token == ANY_SPEECH:
                self.graph.add(Arc(place, EPSILON, self._loop(target), cost + self._costs.any_speech))
            elif token == BACK_OFF:
                after = self._silent[target] if last is None else self._heard[target][last]
                self.graph.add(Arc(place, EPSILON, after, cost))
            elif token != last:
                self.graph.add(Arc(place, token + 1, self._heard[target][token], cost + self._costs.token))

    def _loop(self, target: int) -> int:
        """Speech of any kind that ends in ``target``: at least one token, each with silence before it."""
        if target not in self._any_speech:
            before = self._any_speech[target] = self.graph.new_state()
            cost = self._costs.token + self._costs.any_token
            self.graph.add(Arc(before, self._blank, before))
            for token in self._tokens:
                heard = self.graph.new_state()
                self.graph.add(Arc(before, token + 1, heard, cost, is_any_speech=True))
                self.graph.add(Arc(heard, token + 1, heard, is_any_speech=True))
                self.graph.add(Arc(heard, EPSILON, before))
                self.graph.add(Arc(heard, EPSILON, self._silent[target]))
        return self._any_speech[target]


def to_openfst(graph: DecodingGraph) -> Any:  # noqa: ANN401  native and untyped
    """The graph as a ``kaldifst.StdVectorFst``.

    Raises:
        LibraryMissing: ``kaldifst`` is not installed.
    """
    try:
        import kaldifst
    except ImportError as error:
        raise graph_library_missing() from error
    native = kaldifst.StdVectorFst()
    for _ in range(graph.states):
        native.add_state()
    native.start = 0
    for arc in graph.arcs:
        # sherpa-onnx takes the text from the input labels; output labels tell the free part from the grammar.
        output = ANY_SPEECH_OUTPUT if arc.is_any_speech else EPSILON
        native.add_arc(arc.source, kaldifst.StdArc(arc.label, output, arc.cost, arc.target))
    for state, cost in graph.final.items():
        native.set_final(state, cost)
    return native
