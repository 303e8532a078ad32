"""What may be said as a network over characters: parts that call one another, with marks for what was meant.

A part is a small automaton between a start and an end: the whole language, an expansion rule, a list of values. It
stands here once, however many sentences use it, so a thousand names in five hundred sentences are a thousand names.
Node numbers are global; a call enters a part and comes back behind it, as in a recursive transition network (Woods
1970), though no part may contain itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from edge_asr.errors import ConfigurationError

MOST_NODES = 500_000
"""Largest network that is built: some 300 bytes each."""

SlotValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a whole sentence means."""

    intent: str
    slots: tuple[tuple[str, SlotValue], ...]
    """Slots that the sentence has whatever is said."""
    order: int
    """Place of its template: of two meanings that are equally good, the first holds."""


@dataclass(frozen=True, slots=True)
class Value:
    """What the characters since the call of the part stand for."""

    value: SlotValue


Mark = Meaning | Value | None


@dataclass(frozen=True, slots=True)
class Call:
    """Enter a part and go on behind it."""

    part: int
    after: int
    slot: str = ""
    """Slot that gets the part's value; empty where the part is no list."""


@dataclass(frozen=True, slots=True)
class Part:
    """Where it begins and where it is left."""

    start: int
    end: int


@dataclass(slots=True)
class Network:
    """The nodes' ways on, each a list or dictionary by node number."""

    letters: list[dict[str, list[int]]] = field(default_factory=list)
    """Character to nodes; a space stands between words."""
    jumps: list[list[tuple[int, Mark]]] = field(default_factory=list)
    """Nodes reached by saying nothing."""
    calls: list[list[Call]] = field(default_factory=list)
    wild: dict[int, int] = field(default_factory=dict)
    """Node to the one behind any character at all."""
    parts: list[Part] = field(default_factory=list)
    """The first one is the language."""
    fillers: set[str] = field(default_factory=set)
    """Words that may stand before and behind a sentence; ways over them are drawn too."""
    most_nodes: int | None = None
    """Less than :data:`MOST_NODES` for what a stranger has written."""

    def new_node(self) -> int:
        """A node without ways on.

        Raises:
            ConfigurationError: There are too many.
        """
        most = self.most_nodes or MOST_NODES
        if len(self.letters) >= most:
            raise ConfigurationError(f"the sentences need more than {most} nodes; use fewer or shorter lists")
        self.letters.append({})
        self.jumps.append([])
        self.calls.append([])
        return len(self.letters) - 1

    def new_part(self) -> int:
        """An empty part; its number."""
        self.parts.append(Part(self.new_node(), self.new_node()))
        return len(self.parts) - 1

    def jump(self, source: int, target: int, mark: Mark = None) -> None:
        """A way that says nothing."""
        self.jumps[source].append((target, mark))

    def spell(self, source: int, text: str, target: int) -> None:
        """The characters of a text."""
        for letter in text[:-1]:
            after = self.new_node()
            self.letters[source].setdefault(letter, []).append(after)
            source = after
        if text:
            self.letters[source].setdefault(text[-1], []).append(target)
        else:
            self.jump(source, target)

    def spell_shared(self, start: int, text: str) -> int:
        """The node behind a text, from a start below which all texts share their beginnings."""
        node = start
        for letter in text:
            known = self.letters[node].get(letter)
            if not known:
                known = self.letters[node][letter] = [self.new_node()]
            node = known[0]
        return node


def remove_dead_ends(network: Network) -> None:
    """Take away every way from which the end of its part cannot be reached, such as a list without values leaves."""
    alive = _alive(network)
    for node in range(len(network.letters)):
        letters = network.letters[node]
        for letter in [letter for letter, targets in letters.items() if not alive.issuperset(targets)]:
            letters[letter] = [target for target in letters[letter] if target in alive]
            if not letters[letter]:
                del letters[letter]
        network.jumps[node] = [jump for jump in network.jumps[node] if jump[0] in alive]
        network.calls[node] = [
            call for call in network.calls[node] if call.after in alive and network.parts[call.part].start in alive
        ]


def _alive(network: Network) -> set[int]:
    """Nodes from which the end of their part can be reached."""
    before: dict[int, list[int]] = {}
    callers: dict[int, list[tuple[int, int]]] = {}
    for node, (letters, jumps) in enumerate(zip(network.letters, network.jumps, strict=True)):
        for target in (*_targets(letters), *(jump[0] for jump in jumps)):
            before.setdefault(target, []).append(node)
        for call in network.calls[node]:
            callers.setdefault(call.after, []).append((node, call.part))
            callers.setdefault(network.parts[call.part].start, []).append((node, call.part))
    for node, target in network.wild.items():
        before.setdefault(target, []).append(node)
    alive: set[int] = set()
    after_of = {(node, call.part, call.after) for node, calls in enumerate(network.calls) for call in calls}
    waiting = [part.end for part in network.parts]
    ways: dict[tuple[int, int], list[int]] = {}
    for node, part, after in after_of:
        ways.setdefault((node, part), []).append(after)
    while waiting:
        node = waiting.pop()
        if node in alive:
            continue
        alive.add(node)
        waiting.extend(before.get(node, ()))
        for caller, part in callers.get(node, ()):
            is_back = any(after in alive for after in ways[caller, part])
            if is_back and network.parts[part].start in alive:
                waiting.append(caller)
    return alive


def _targets(letters: dict[str, list[int]]) -> Iterable[int]:
    for targets in letters.values():
        yield from targets
