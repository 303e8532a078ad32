"""From a sentence to what it means: the way through the network that it took, with the slots on it.

A sentence may be said by several templates. Of its ways the one with the fewest characters of wildcards is meant, of
those the one with the fewest outside lists (a lamp called "kitchen light" rather than the light in the kitchen), of
those the first in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from edge_asr.commands.folding import FREE_MARKS, fold
from edge_asr.commands.network import Call, Mark, Meaning, Network, SlotValue, Value
from edge_asr.events import Command

LONGEST_TEXT = 2000
"""Characters; nobody says more at once."""


class _Stack(NamedTuple):
    """Calls that were not left."""

    call: Call
    outer: _Stack | None


class _Place(NamedTuple):
    node: int
    stack: _Stack | None
    is_after_space: bool


class _Event(NamedTuple):
    """Something on the way that has a meaning."""

    kind: str
    mark: Mark
    slot: str
    position: int
    before: _Event | None


class _Way(NamedTuple):
    """Compared as a tuple: the least is the best."""

    wild: int
    outside: int
    """Characters outside lists."""
    order: int
    events: _Event | None

    def key(self) -> tuple[int, int, int]:
        return self[:3]


def interpret(network: Network, text: str) -> Command | None:
    """What a text means; ``None`` where it is no sentence. The score is 1."""
    if len(text) > LONGEST_TEXT:
        return None
    words = " ".join(text.split())
    letters = fold(words)
    spoken = words if len(words) == len(letters) else letters
    start = _Place(network.parts[0].start, None, is_after_space=False)
    walk = _Walk(network)
    ways = walk.silently({start: _Way(0, 0, 0, None)}, 0)
    for position, letter in enumerate(" " + letters):
        ways = walk.silently(walk.over(ways, letter), position + 1)
        if not ways:
            return None
    ways = walk.silently({place._replace(is_after_space=True): way for place, way in ways.items()}, len(letters) + 1)
    ends = [way for place, way in ways.items() if place.node == network.parts[0].end and place.stack is None]
    return _command(min(ends, key=_Way.key).events, " " + spoken) if ends else None


class _Walk:
    def __init__(self, network: Network) -> None:
        self._network = network
        self._ends = {part.end for part in network.parts}

    def over(self, ways: dict[_Place, _Way], letter: str) -> dict[_Place, _Way]:
        """Ways on by one character."""
        found: dict[_Place, _Way] = {}
        for place, way in ways.items():
            for node, is_wild in self._targets(place, letter):
                spacing = letter == " " or (letter == "-" and not is_wild)
                after = _Place(node, place.stack, spacing)
                is_listed = _is_in_list(place.stack)
                _keep(found, after, way._replace(wild=way.wild + is_wild, outside=way.outside + (not is_listed)))
            if letter in FREE_MARKS:
                _keep(found, place, way)
        return found

    def _targets(self, place: _Place, letter: str) -> Iterator[tuple[int, bool]]:
        letters = self._network.letters[place.node]
        if place.node in self._network.wild:
            yield self._network.wild[place.node], True
        yield from ((node, False) for node in letters.get(letter, ()))
        if letter == "-":
            yield from ((node, False) for node in letters.get(" ", ()))

    def silently(self, ways: dict[_Place, _Way], position: int) -> dict[_Place, _Way]:
        """Ways on by jumps, calls, returns, and spaces behind a space."""
        found = dict(ways)
        waiting = list(ways)
        while waiting:
            place = waiting.pop()
            way = found[place]
            for after, longer in self._silent_ways(place, way, position):
                if _keep(found, after, longer):
                    waiting.append(after)
        return found

    def _silent_ways(self, place: _Place, way: _Way, position: int) -> Iterator[tuple[_Place, _Way]]:
        network, (node, stack, is_after_space) = self._network, place
        for target, mark in network.jumps[node]:
            yield _Place(target, stack, is_after_space), _marked(way, mark, position)
        for call in network.calls[node]:
            inside = _Place(network.parts[call.part].start, _Stack(call, stack), is_after_space)
            yield inside, _with(way, "enter", call.slot, position)
        if stack is not None and node in self._ends:
            yield _Place(stack.call.after, stack.outer, is_after_space), _with(way, "leave", stack.call.slot, position)
        for target in network.letters[node].get("'", ()):  # some models write none
            yield _Place(target, stack, is_after_space), way
        if is_after_space:
            for target in network.letters[node].get(" ", ()):
                yield _Place(target, stack, is_after_space), way


def _keep(found: dict[_Place, _Way], place: _Place, way: _Way) -> bool:
    known = found.get(place)
    if known is not None and known.key() <= way.key():
        return False
    found[place] = way
    return True


def _is_in_list(stack: _Stack | None) -> bool:
    while stack is not None:
        if stack.call.slot:
            return True
        stack = stack.outer
    return False


def _with(way: _Way, kind: str, slot: str, position: int) -> _Way:
    return way._replace(events=_Event(kind, None, slot, position, way.events)) if slot else way


def _marked(way: _Way, mark: Mark, position: int) -> _Way:
    if mark is None:
        return way
    marked = way._replace(events=_Event("mark", mark, "", position, way.events))
    return marked._replace(order=mark.order) if isinstance(mark, Meaning) else marked


def _command(last: _Event | None, text: str) -> Command:
    """The events from the first to the last, put together."""
    events = []
    while last is not None:
        events.append(last)
        last = last.before
    intent, slots = "", dict[str, SlotValue]()
    fixed: tuple[tuple[str, SlotValue], ...] = ()
    begins: list[int] = []
    value: SlotValue | None = None
    for event in reversed(events):
        if event.kind == "enter":
            begins.append(event.position)
            value = None
        elif event.kind == "leave":
            said = text[begins.pop() : event.position].strip(" -" + "".join(FREE_MARKS))
            slots[event.slot] = said if value is None else value
            value = None
        elif isinstance(event.mark, Value):
            value = event.mark.value
        elif isinstance(event.mark, Meaning):
            intent, fixed = event.mark.intent, event.mark.slots
    return Command(intent, {**dict(fixed), **slots}, 1.0)
