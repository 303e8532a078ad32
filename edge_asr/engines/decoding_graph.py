"""Decoding graphs as files: what the native engine believes without looking is looked at here first.

The engine follows any label into the scores of a frame and any arc to its target, so that a label too large or a file
cut short reads memory that is not its own. It takes the text from the input labels of a path alone, whichever way that
went; in graphs with a way for speech of any kind (``commands.graph``) the arcs of that way have an output label of
their own, and here it is told whether a text can be made without them. If not, what was said has been rejected.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from edge_asr.errors import ConfigurationError
from edge_asr.families import ModelFamily
from edge_asr.settings import EngineSettings

ANY_SPEECH_OUTPUT = 1 << 30
"""Output label of the arcs of speech of any kind; graphs made elsewhere have words or tokens as their output."""

_MAGIC = 2125659606
_SYMBOL_TABLES = 3  # bits of the flags
_ARC = np.dtype([("input", "<i4"), ("output", "<i4"), ("cost", "<f4"), ("target", "<i4")])
_NO_ARCS = np.zeros(0, _ARC)
_BLANK = 1  # label of token 0

_Arcs = npt.NDArray[Any]
"""Records of one state's arcs."""


class GraphUnreadable(Exception):
    """The file is no graph that can be decoded with; the text says why."""


def with_graph(files: Mapping[str, Path], family: ModelFamily, settings: EngineSettings) -> dict[str, Path]:
    """A model's files with the decoding graph that is configured: the user's, the model's own, or none.

    Raises:
        ConfigurationError: The family takes no graph, or the user's cannot be found.
    """
    without = {role: path for role, path in files.items() if role != "graph"}
    if not settings.use_graph:
        return without
    if not settings.graph:
        return dict(files)
    if "graph" not in family.optional_roles:
        raise ConfigurationError(
            f"engine.graph = {settings.graph!r} does not work with models of the family {family.name}; leave it empty"
        )
    path = Path(settings.graph)
    if not path.is_file():
        raise ConfigurationError(f"engine.graph = {settings.graph!r} is no file; name a graph that exists")
    return {**without, "graph": path}


class Grammar:
    """The part of a graph without speech of any kind."""

    def __init__(self, start: int, arcs: Sequence[_Arcs], final: set[int]) -> None:
        self._start = start
        self._arcs = arcs
        self._final = final
        self._known: dict[int, dict[int, set[int]]] = {}  # of a large graph, few states are ever visited

    def accepts(self, tokens: Iterable[int]) -> bool:
        """Whether the token ids may end here; repetitions and blanks are taken out, as the engine does."""
        states = self._with_silence({self._start})
        for token in tokens:
            # A state that leads to itself is one sound that lasts.
            after = {target for state in states for target in self._after(state, token + 1) if target != state}
            states = self._with_silence(after)
        return bool(states & self._final)

    def _with_silence(self, states: set[int]) -> set[int]:
        return states | {target for state in states for target in self._after(state, _BLANK)}

    def _after(self, state: int, label: int) -> set[int]:
        if state not in self._known:
            targets = self._known[state] = {}
            for taken, output, _cost, target in self._arcs[state].tolist():
                if output != ANY_SPEECH_OUTPUT:
                    targets.setdefault(taken, set()).add(target)
        return self._known[state].get(label, set())


@dataclass(frozen=True, slots=True)
class Rejection:
    """Tells sentences of a grammar from tokens that any speech was spelled with."""

    grammar: Grammar
    ids: Mapping[str, int]
    """Symbol, as the engine shows it, to token id."""

    def rejects(self, tokens: Sequence[str]) -> bool:
        """Whether the tokens are no sentence."""
        return not self.grammar.accepts(self.ids[token] for token in tokens)


def read_rejection(graph: Path, tokens: Path) -> Rejection | None:
    """Check a graph that is about to be loaded; what tells rejected speech, where the graph can reject.

    Raises:
        ConfigurationError: The graph cannot be decoded with.
    """
    ids = _token_ids(tokens)
    try:
        grammar = read_graph(graph, len(ids))
    except (GraphUnreadable, OSError) as error:
        raise ConfigurationError(f"the decoding graph {graph} cannot be used: it {error}") from error
    return Rejection(grammar, ids) if grammar else None


def _token_ids(path: Path) -> dict[str, int]:
    """The engine shows the mark of a word's beginning as a space."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").split("\n")]
    return {line[0].replace("▁", " "): int(line[-1]) for line in lines if line}


def read_graph(path: Path, tokens: int) -> Grammar | None:
    """Check a graph; its grammar, or ``None`` where it has no way for speech of any kind.

    Args:
        path: An OpenFst file of the type vector with tropical weights.
        tokens: How many tokens the model has; labels go up to that.

    Raises:
        GraphUnreadable: The file is something else, damaged, or of a model with more tokens.
        OSError: It cannot be read.
    """
    content = path.read_bytes()
    try:
        start, first, count = _header(content)
        arcs, final = _states(content, first, count)
    except (struct.error, ValueError) as error:
        raise GraphUnreadable("is cut off or damaged") from error
    every = np.concatenate([_NO_ARCS, *arcs])
    _check(every, start, count, tokens)
    if ANY_SPEECH_OUTPUT not in every["output"]:
        return None
    return Grammar(start, arcs, final)


def _check(arcs: _Arcs, start: int, states: int, tokens: int) -> None:
    if not 0 <= start < states:
        raise GraphUnreadable("has no start")
    if np.any((arcs["target"] < 0) | (arcs["target"] >= states)):
        raise GraphUnreadable("is damaged: an arc leads nowhere")
    strange = arcs["input"][(arcs["input"] < 0) | (arcs["input"] > tokens)]
    if len(strange):
        raise GraphUnreadable(f"has the label {strange[0]}, and the model has {tokens} tokens; make it for this model")


def _header(content: bytes) -> tuple[int, int, int]:
    """Start state, position of the first state, number of states."""
    (magic,) = struct.unpack_from("<i", content)
    if magic != _MAGIC:
        raise GraphUnreadable("is no OpenFst file")
    kind, position = _string(content, 4)
    arc, position = _string(content, position)
    if (kind, arc) != ("vector", "standard"):
        raise GraphUnreadable(f"is an OpenFst file of the type {kind}, {arc} instead of vector, standard")
    _version, flags, _properties, start, states, _arcs = struct.unpack_from("<iiQqqq", content, position)
    if flags & _SYMBOL_TABLES:
        raise GraphUnreadable("holds symbol tables; write it without them")
    return start, position + struct.calcsize("<iiQqqq"), states


def _string(content: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<i", content, position)
    begin = position + 4
    return content[begin : begin + max(0, length)].decode("ascii"), begin + max(0, length)


def _states(content: bytes, position: int, count: int) -> tuple[list[_Arcs], set[int]]:
    """The arcs of each state, and the states that are final (their cost is not infinite)."""
    arcs: list[_Arcs] = []
    final: set[int] = set()
    for state in range(count):
        cost, leaving = struct.unpack_from("<fq", content, position)
        position += struct.calcsize("<fq")
        if leaving < 0:
            raise ValueError(leaving)
        arcs.append(np.frombuffer(content, _ARC, leaving, position) if leaving else _NO_ARCS)
        position += leaving * _ARC.itemsize
        if math.isfinite(cost):
            final.add(state)
    return arcs, final
