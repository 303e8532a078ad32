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
from collections.abc import Iterable
from dataclasses import dataclass

from edge_asr.commands.drawing import BACK_OFF, END, Drawing, Label, Spell, bounded
from edge_asr.commands.grammar import AnySpeech, Expression, Word
from edge_asr.commands.graph_library import graph_library_missing
from edge_asr.commands.word_graph import WordGraph
from edge_asr.errors import ConfigurationError


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
            states = self._after(states | self._after(states, BACK_OFF), token)
        return any(state in self.final for state in states)

    def _after(self, states: set[int], token: int) -> set[int]:
        return {after for state in states for label, after in self.arcs[state].items() if label.token == token}


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
    drawing = Drawing(spell, word_cost)
    start, end = drawing.new_state(), drawing.new_state()
    drawing.draw(expression, start, end)
    return smallest(drawing, start, end)


def build_from_words(graph: WordGraph, spell: Spell) -> Automaton:
    """The smallest automaton of a graph of words, or else speech of any kind.

    Words that cannot be spelled are left out: a number in digits also stands there in words.

    Raises:
        ConfigurationError: Nothing can be said, or the automaton grows beyond ``MOST_ARCS``.
        LibraryMissing: ``kaldifst`` is not installed.
    """
    drawing = Drawing(spell, 0.0)
    end = drawing.new_state()
    states = [drawing.new_state() for _ in graph.arcs]
    for source, arcs in zip(states, graph.arcs, strict=True):
        for word, target in arcs:
            if spelled := _spelled(word, spell):
                drawing.draw(Word(spelled), source, states[target])
    for state in graph.final:
        drawing.add_free(states[state], end)
    smallest(drawing, states[0], end)  # says so when there is no sentence
    drawing.draw(AnySpeech(), states[0], end)
    return smallest(drawing, states[0], end)


def _spelled(word: str, spell: Spell) -> str:
    """The word, without the apostrophes of a model that has none; empty where it cannot be spelled at all."""
    for form in dict.fromkeys((word, word.replace("'", ""))):
        with contextlib.suppress(ConfigurationError):
            if form and spell(form):
                return form
    return ""


def smallest(drawing: Drawing, start: int, end: int) -> Automaton:
    """The smallest automaton of what was drawn between two states.

    Raises:
        ConfigurationError: Nothing leads from one to the other, or the automaton grows beyond ``MOST_ARCS``.
        LibraryMissing: ``kaldifst`` is not installed.
    """
    accepted = drawing.new_state()
    drawing.add(end, END, accepted)
    arcs = _determinize(drawing, start)
    if not any(label.token == END.token for labels in arcs for label in labels):
        raise ConfigurationError("the grammar has no sentence; each part needs at least one choice that can be said")
    return _numbered(*_minimize(arcs))


def _determinize(drawing: Drawing, start: int) -> list[dict[Label, int]]:
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
        size = bounded(size + len(after))
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

    def __init__(self, drawing: Drawing) -> None:
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
        raise graph_library_missing() from error
    labels = sorted({label for after in arcs for label in after})
    symbols = {label: number for number, label in enumerate(labels, 1)}
    acceptor = kaldifst.StdVectorFst()
    for _ in arcs:
        acceptor.add_state()
    acceptor.start = 0
    for state, after in enumerate(arcs):
        for label, target in after.items():
            if label.token == END.token:
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
    """States in the order in which a search from the start meets them; what follows ``END`` is left out."""
    numbers = {start: 0}
    order = [start]
    for state in order:
        for label, target in sorted(arcs[state].items()):
            if label.token != END.token and target not in numbers:
                numbers[target] = len(numbers)
                order.append(target)
    return Automaton(
        arcs=tuple(
            {label: numbers[target] for label, target in sorted(arcs[state].items()) if label.token != END.token}
            for state in order
        ),
        final={numbers[state]: label.cost for state in order for label in arcs[state] if label.token == END.token},
    )
