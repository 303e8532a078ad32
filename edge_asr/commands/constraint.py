"""Which tokens continue a sentence: a vocabulary's tree walked over a network, remembered.

What a walk finds within one part of the network holds wherever the part is called from; it is computed once. A state
of the constraint is a set of places, each a node with the frame it returns to. A frame is a set of callers, so twenty
sentences that all go on with a name share one place in the list of names.
"""

from __future__ import annotations

import heapq
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np

from edge_asr.commands.network import Network
from edge_asr.commands.part_walk import AFTER_SPACE, IN_WORD, At, PartWalker, Reach, Spacing
from edge_asr.commands.token_trie import ROOT, TokenTrie
from edge_asr.engines.base import Following
from edge_asr.errors import ConfigurationError

MOST_REMEMBERED = 3_000_000
"""Tokens behind states, 16 bytes each; beyond that all states are forgotten before the next text."""

MOST_WALKED = 200_000
"""Nodes that the walks of one state come by; what lies beyond cannot be said. Thousands of sentences that begin alike
need 64,000; a sentence of thousands of optional words would stop all sessions for minutes."""

Frame = int
"""Number of a set of callers."""

Callers = AbstractSet[tuple[int, Frame]]
"""Nodes to return to, each with the frame that is returned to there."""

Places = frozenset[tuple[int, Frame]]
"""Nodes, each with the frame its part returns to."""

Walks = list[tuple[Reach, Callers]]
"""What was found within parts, with the callers of each."""

_OUTSIDE: Frame = 0
"""Behind the end of the language there is nothing."""


class _State(NamedTuple):
    """Where one may be after some tokens."""

    places: Places
    spacing: Spacing


class NetworkConstraint:
    """Implements :class:`~edge_asr.engines.base.TokenConstraint`; used by one thread."""

    def __init__(self, network: Network, trie: TokenTrie) -> None:
        self._network = network
        self._trie = trie
        self._walker = PartWalker(network, trie)
        self._is_cut = False
        self._forget()

    def begin(self) -> int:
        """The state in which nothing was said."""
        if self._remembered > MOST_REMEMBERED:
            self._forget()
        return self._number(_State(frozenset(((self._network.parts[0].start, _OUTSIDE),)), IN_WORD))

    def following(self, state: int) -> Following:
        """What may come next."""
        known = self._following.get(state)
        if known is None:
            known = self._following[state] = self._expand(self._states[state])
            self._remembered += len(known.tokens) + 1
        return known

    def may_end(self, state: int) -> bool:
        """Whether the text is a sentence."""
        known = self._may_end.get(state)
        if known is None:
            known = self._may_end[state] = self._is_sentence(self._states[state])
        return known

    def warm_up(self) -> None:
        """Walk how sentences begin, so that the first command does not wait for it.

        Raises:
            ConfigurationError: They go on in too many ways.
        """
        begin = self.following(self.begin())
        if len(begin.tokens):
            # The widest, and of several the one behind the last token: later tokens are longer, and words end there.
            ways = zip(begin.states.tolist(), begin.tokens.tolist(), strict=True)
            self.following(max(ways, key=lambda way: (len(self._states[way[0]].places), way[1]))[0])
        if self._is_cut:
            raise ConfigurationError(
                "the sentences go on in too many ways; use fewer optional parts behind one another"
            )

    # States and frames by number.

    def _forget(self) -> None:
        self._remembered = 0
        self._states: list[_State] = []
        self._numbers: dict[_State, int] = {}
        self._following: dict[int, Following] = {}
        self._may_end: dict[int, bool] = {}
        self._frames: list[frozenset[tuple[int, Frame]]] = [frozenset()]
        self._frame_numbers: dict[frozenset[tuple[int, Frame]], Frame] = {frozenset(): _OUTSIDE}

    def _number(self, state: _State) -> int:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
        return number

    def _frame(self, callers: Callers) -> Frame:
        known = frozenset(callers)
        number = self._frame_numbers.get(known)
        if number is None:
            number = self._frame_numbers[known] = len(self._frames)
            self._frames.append(known)
        return number

    # From a state on.

    def _expand(self, state: _State) -> Following:
        walks = self._walks(state.places, state.spacing)
        wild = self._wild_places(walks)
        states = np.full(self._trie.size, -1, np.int64)
        regions = np.zeros(self._trie.size, np.int64)  # for each token, which of ``wild`` it is in
        for region, (node, places) in enumerate(wild):
            tokens = self._trie.below(node)
            regions[tokens] = region
            if places:
                states[tokens] = self._number(_State(places, IN_WORD))
        for token, (places, spacing) in self._spelled(walks).items():
            states[token] = self._number(_State(places | wild[regions[token]][1], spacing))
        following = np.flatnonzero(states >= 0)
        return Following(following, states[following])

    def _spelled(self, walks: Walks) -> dict[int, tuple[Places, Spacing]]:
        """Tokens that the network spells, with the places behind them."""
        found: dict[int, dict[int, Callers]] = {}
        spacings: dict[int, Spacing] = {}
        for reach, callers in walks:
            for token, node, spacing in reach.tokens:
                nodes = found.setdefault(token, {})
                known = nodes.get(node)
                nodes[node] = callers if known is None else known | callers
                spacings[token] = spacing
        frames: dict[int, Frame] = {}  # by the identity of the callers, which most tokens share

        def frame_of(callers: Callers) -> Frame:
            frame = frames.get(id(callers))
            if frame is None:
                frame = frames[id(callers)] = self._frame(callers)
            return frame

        return {
            token: (frozenset((node, frame_of(callers)) for node, callers in nodes.items()), spacings[token])
            for token, nodes in found.items()
        }

    def _wild_places(self, walks: Walks) -> list[tuple[int, Places]]:
        """Nodes of the tree below which any token leads on, with the places behind it; outer ones first.

        The first is the whole tree, with no places where nothing leads on from there.
        """
        found: dict[int, dict[int, set[tuple[int, Frame]]]] = {ROOT: {}}
        for reach, callers in walks:
            for trie, target in reach.wild:
                found.setdefault(trie, {}).setdefault(target, set()).update(callers)
        outer = sorted(found, key=lambda node: -len(self._trie.below(node)))
        places: dict[int, Places] = {}
        for node in outer:
            inherited = [places[other] for other in places if self._trie.is_below(node, other)]
            own = frozenset((target, self._frame(callers)) for target, callers in found[node].items())
            places[node] = own.union(*inherited)
        return [(node, places[node]) for node in outer]

    def _is_sentence(self, state: _State) -> bool:
        """Whether nothing more need be said; spaces at the end say nothing."""
        walks = self._walks(state.places, AFTER_SPACE, is_silent=True)
        return any(not callers and any(at.trie == ROOT for at in reach.ends) for reach, callers in walks)

    def _walks(self, places: Places, spacing: Spacing, *, is_silent: bool = False) -> Walks:
        """The walks from places and from wherever they call or return to, each with the callers of its part.

        Args:
            places: Where they begin.
            spacing: What was said last.
            is_silent: Whether only ways are of interest that say nothing.
        """
        todo = _Todo()
        for node, frame in places:
            todo.add(node, At(spacing, ROOT, 0), self._frames[frame])
        walks: Walks = []
        most = self._walker.walked + MOST_WALKED
        while todo.order:
            if self._walker.walked > most:
                self._is_cut = True
                break
            depth, node, at_spacing, trie, callers = todo.pop()
            reach = self._walker.walk(node, at_spacing, trie)
            walks.append((reach, callers))
            frame = self._frame(callers) if reach.calls else _OUTSIDE
            for part, after, at in reach.calls:
                if not is_silent or at.trie == ROOT:
                    start = self._network.parts[part].start
                    todo.add(start, at._replace(depth=depth + at.depth), frozenset(((after, frame),)))
            for at in reach.ends:
                if not is_silent or at.trie == ROOT:
                    for after, outer in callers:
                        todo.add(after, at._replace(depth=depth + at.depth), self._frames[outer])
        return walks


class _Todo:
    """Walks to be made, those first that have read least, so that callers gather before a part is walked."""

    def __init__(self) -> None:
        self.order: list[tuple[int, int, Spacing, int]] = []
        self._callers: dict[tuple[int, int, Spacing, int], set[tuple[int, Frame]]] = {}
        self._done: dict[tuple[int, int, Spacing, int], set[tuple[int, Frame]]] = {}

    def add(self, node: int, at: At, callers: Callers) -> None:
        key = (at.depth, node, at.spacing, at.trie)
        if key in self._callers:
            self._callers[key] |= callers
        elif key not in self._done or not callers <= self._done[key]:
            self._callers[key] = set(callers)
            heapq.heappush(self.order, key)

    def pop(self) -> tuple[int, int, Spacing, int, Callers]:
        key = heapq.heappop(self.order)
        callers = self._callers.pop(key)
        self._done[key] = self._done.get(key, set()) | callers
        return (*key, callers)
