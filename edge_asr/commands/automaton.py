"""From an expression over words to the smallest automaton over tokens that accepts it.

Three steps: an automaton with free moves, drawn along the expression (Thompson 1968); its deterministic equal by the
subset construction, which may grow and is therefore bounded; and the smallest one (OpenFst's minimisation and Moore's),
numbered in the order in which a search from the start meets its states. So the result depends on the language and its
costs alone, not on how the expression was written.

Costs are part of the arcs' labels while the automaton is made deterministic: two arcs with the same token and different
costs stay apart, and the decoder takes the better path.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from edge_asr.commands.grammar import Alternatives, AnySpeech, Expression, Repeat, Sequence, Weighted, Word
from edge_asr.commands.word_graph import WordGraph
from edge_asr.errors import ConfigurationError, LibraryMissing

ANY_SPEECH = -1
"""The label that stands for speech of any kind."""

MOST_ARCS = 1_000_000
"""Largest automaton that is built, counted at each step."""

Spell = Callable[[str], tuple[int, ...]]


class Label(NamedTuple):
    """What an arc takes, and what taking it costs."""

    token: int
    cost: float = 0.0


_END = Label(-2)


@dataclass(frozen=True, slots=True)
class Automaton:
    """States 0 to n - 1; 0 is the start."""

    arcs: tuple[dict[Label, int], ...]
    """For each state, label to next state."""
    final: dict[int, float]
    """State where a sentence may end, to the cost of ending there."""

    def accepts(self, tokens: Iterable[int]) -> bool:
        """Whether the tokens are a sentence; speech of any kind is none."""
        states = {0}
        for token in tokens:
            states = {after for state in states for label, after in self.arcs[state].items() if label.token == token}
        return any(state in self.final for state in states)


def build_automaton(expression: Expression, spell: Spell, word_cost: float = 0.0) -> Automaton:
    """The smallest automaton of an expression.

    Args:
        expression: What may be said.
        spell: Word to token ids.
        word_cost: Added for each word but not for speech of any kind; greater than 0 makes words rarer.

    Raises:
        ConfigurationError: A word cannot be spelled, nothing can be said, or the automaton grows beyond ``MOST_ARCS``.
        LibraryMissing: ``kaldifst`` is not installed.
    """
    drawing = _Drawing(spell, word_cost)
    start, end = drawing.new_state(), drawing.new_state()
    drawing.draw(expression, start, end)
    return _smallest(drawing, start, end)


def build_from_words(graph: WordGraph, spell: Spell) -> Automaton:
    """The smallest automaton of a graph of words, or else speech of any kind.

    Words that cannot be spelled are left out: a number in digits also stands there in words.

    Raises:
        ConfigurationError: Nothing can be said, or the automaton grows beyond ``MOST_ARCS``.
        LibraryMissing: ``kaldifst`` is not installed.
    """
    drawing = _Drawing(spell, 0.0)
    end = drawing.new_state()
    states = [drawing.new_state() for _ in graph.arcs]
    for source, arcs in zip(states, graph.arcs, strict=True):
        for word, target in arcs:
            if spelled := _spelled(word, spell):
                drawing.draw(Word(spelled), source, states[target])
    for state in graph.final:
        drawing.add_free(states[state], end)
    _smallest(drawing, states[0], end)  # says so when there is no sentence
    drawing.draw(AnySpeech(), states[0], end)
    return _smallest(drawing, states[0], end)


def _spelled(word: str, spell: Spell) -> str:
    """The word, without the apostrophes of a model that has none; empty where it cannot be spelled at all."""
    for form in dict.fromkeys((word, word.replace("'", ""))):
        with contextlib.suppress(ConfigurationError):
            if form and spell(form):
                return form
    return ""


def _smallest(drawing: _Drawing, start: int, end: int) -> Automaton:
    accepted = drawing.new_state()
    drawing.add(end, _END, accepted)
    arcs = _determinize(drawing, start)
    if not any(label.token == _END.token for labels in arcs for label in labels):
        raise ConfigurationError("the grammar has no sentence; each part needs at least one choice that can be said")
    return _numbered(*_minimize(arcs))


@dataclass(slots=True)
class _Drawing:
    """An automaton with free moves, drawn part by part between two states."""

    spell: Spell
    word_cost: float
    arcs: list[list[tuple[Label, int]]] = field(default_factory=list)
    free: list[list[tuple[float, int]]] = field(default_factory=list)
    size: int = 0

    def new_state(self) -> int:
        self.arcs.append([])
        self.free.append([])
        return _bounded(len(self.arcs)) - 1

    def add(self, source: int, label: Label, target: int) -> None:
        self.size = _bounded(self.size + 1)
        self.arcs[source].append((label, target))

    def add_free(self, source: int, target: int, cost: float = 0.0) -> None:
        self.size = _bounded(self.size + 1)
        self.free[source].append((cost, target))

    def draw(self, expression: Expression, source: int, target: int) -> None:
        match expression:
            case Word(text):
                self._draw_word(text, source, target)
            case Sequence(parts):
                self._draw_sequence(parts, source, target)
            case Alternatives(choices):
                for choice in choices:
                    self.draw(choice, source, target)
            case Repeat(part, at_least, at_most):
                self._draw_repeat(part, at_least, at_most, source, target)
            case Weighted(part, cost):
                begin = self.new_state()
                self.add_free(source, begin, cost)
                self.draw(part, begin, target)
            case AnySpeech():
                self.add(source, Label(ANY_SPEECH), target)

    def _draw_word(self, text: str, source: int, target: int) -> None:
        *first, last = self.spell(text)
        cost = self.word_cost
        for token in first:
            after = self.new_state()
            self.add(source, Label(token, cost), after)
            source, cost = after, 0.0
        self.add(source, Label(last, cost), target)

    def _draw_sequence(self, parts: tuple[Expression, ...], source: int, target: int) -> None:
        if not parts:
            self.add_free(source, target)
        for number, part in enumerate(parts, 1):
            after = target if number == len(parts) else self.new_state()
            self.draw(part, source, after)
            source = after

    def _draw_repeat(self, part: Expression, at_least: int, at_most: int | None, source: int, target: int) -> None:
        for _ in range(at_least):
            after = self.new_state()
            self.draw(part, source, after)
            source = after
        if at_most is None:
            loop = self.new_state()
            self.add_free(source, loop)
            self.draw(part, loop, loop)
            source = loop
        for _ in range((at_most or 0) - at_least):
            after = self.new_state()
            self.add_free(source, target)
            self.draw(part, source, after)
            source = after
        self.add_free(source, target)


def _bounded(size: int) -> int:
    if size > MOST_ARCS:
        raise ConfigurationError(
            f"the grammar needs more than {MOST_ARCS} states or arcs; split it, or let parts repeat fewer times"
        )
    return size


def _determinize(drawing: _Drawing, start: int) -> list[dict[Label, int]]:
    """Subset construction; the states of the result are sets of states of the drawing."""
    without_free = _Direct(drawing)
    begin = frozenset((start,))
    numbers = {begin: 0}
    waiting = deque((begin,))
    result: list[dict[Label, int]] = []
    size = 0
    while waiting:
        after: dict[Label, set[int]] = {}
        for state in waiting.popleft():
            for label, target in without_free.arcs(state):
                after.setdefault(label, set()).add(target)
        size = _bounded(size + len(after))
        result.append({})
        for label, targets in after.items():
            subset = frozenset(targets)
            if subset not in numbers:
                numbers[subset] = len(numbers)
                waiting.append(subset)
            result[-1][label] = numbers[subset]
    return result


class _Direct:
    """The arcs of a drawing with the free moves before them taken into account."""

    def __init__(self, drawing: _Drawing) -> None:
        self._drawing = drawing
        self._known: dict[int, list[tuple[Label, int]]] = {}

    def arcs(self, state: int) -> list[tuple[Label, int]]:
        if state not in self._known:
            self._known[state] = [
                (Label(label.token, round(label.cost + cost, 4)), target)
                for reached, cost in sorted(self._reached(state).items())
                for label, target in self._drawing.arcs[reached]
            ]
        return self._known[state]

    def _reached(self, state: int) -> dict[int, float]:
        """States after free moves only, with the least cost of getting there."""
        costs = {state: 0.0}
        waiting = deque((state,))
        while waiting:
            here = waiting.popleft()
            for cost, target in self._drawing.free[here]:
                if costs[here] + cost < costs.get(target, float("inf")):
                    costs[target] = costs[here] + cost
                    waiting.append(target)
        return costs


def _minimize(arcs: list[dict[Label, int]]) -> tuple[list[dict[Label, int]], int]:
    """The smallest equal automaton, with its start; OpenFst sees each label as a symbol of its own."""
    try:
        import kaldifst
    except ImportError as error:
        raise LibraryMissing("kaldifst", "install it with: pip install 'edge-asr[graph]'") from error
    labels = sorted({label for after in arcs for label in after})
    symbols = {label: number for number, label in enumerate(labels, 1)}
    acceptor = kaldifst.StdVectorFst()
    for _ in arcs:
        acceptor.add_state()
    acceptor.start = 0
    for state, after in enumerate(arcs):
        for label, target in after.items():
            if label.token == _END.token:
                acceptor.set_final(target, 0.0)
            acceptor.add_arc(state, kaldifst.StdArc(symbols[label], symbols[label], 0.0, target))
    kaldifst.connect(acceptor)
    kaldifst.minimize(acceptor)
    smallest = [
        {labels[arc.ilabel - 1]: arc.nextstate for arc in kaldifst.ArcIterator(acceptor, state)}
        for state in range(acceptor.num_states)
    ]
    return _merge_equal_states(smallest, acceptor.start)


def _merge_equal_states(arcs: list[dict[Label, int]], start: int) -> tuple[list[dict[Label, int]], int]:
    """Send all arcs, and the start, to one of the states from which the same may follow (Moore 1956); numbers stay.

    OpenFst leaves some states of nested loops apart, such as those of "two or more times one or more times a word".
    """
    groups, count = [0] * len(arcs), 1
    while True:
        seen: dict[tuple[tuple[Label, int], ...], int] = {}
        groups = [
            seen.setdefault(tuple(sorted((label, groups[target]) for label, target in after.items())), len(seen))
            for after in arcs
        ]
        if len(seen) == count:
            break
        count = len(seen)
    first: dict[int, int] = {}
    for state, group in enumerate(groups):
        first.setdefault(group, state)
    merged = [{label: first[groups[target]] for label, target in after.items()} for after in arcs]
    return merged, first[groups[start]]


def _numbered(arcs: list[dict[Label, int]], start: int) -> Automaton:
    """States in the order in which a search from the start meets them; what follows ``_END`` is left out."""
    numbers = {start: 0}
    order = [start]
    for state in order:
        for label, target in sorted(arcs[state].items()):
            if label.token != _END.token and target not in numbers:
                numbers[target] = len(numbers)
                order.append(target)
    return Automaton(
        arcs=tuple(
            {label: numbers[target] for label, target in sorted(arcs[state].items()) if label.token != _END.token}
            for state in order
        ),
        final={numbers[state]: label.cost for state in order for label in arcs[state] if label.token == _END.token},
    )
