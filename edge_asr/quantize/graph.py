"""From a graph and a choice for each of its nodes to the quantized graph.

``load_graph`` → ``prepare_graph`` → ``quantizable_nodes`` → ``apply_assignment``; nothing here reads audio, runs a
model or decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import onnx

from edge_asr.quantize.choices import Choice, Node, WeightOptions
from edge_asr.quantize.targets import Target

DEFAULT_OPSET = 21
DEFAULT_IR_VERSION = 10
"""What the runtimes on boards have known for years; a model that needs more keeps it, up to what the store allows."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A float graph in which every node has a name of its own and every weight is a plain initializer."""

    name: str
    """Of the file, for error sentences."""
    model: onnx.ModelProto
    """Never changed: :func:`apply_assignment` makes a new one."""
    metadata: Mapping[str, str]
    """What the engine reads from the file; every model made from this one has the same."""
    notes: tuple[str, ...] = ()
    """What was done and what could not be, a sentence each."""


@dataclass(frozen=True, slots=True)
class OperatorCounts:
    """Operators of a graph, its subgraphs included, before and after."""

    before: Mapping[str, int]
    after: Mapping[str, int]
    quantized: Mapping[Choice, int] = field(default_factory=dict)
    """Nodes whose weights were changed, by what was done."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantized:
    """A graph with the choices applied."""

    model: onnx.ModelProto
    counts: OperatorCounts
    notes: tuple[str, ...] = ()


def load_graph(path: Path) -> onnx.ModelProto:
    """Read an ONNX file with the weights that lie beside it; they may be more than 2 GB.

    Raises:
        ModelDamaged: It is no ONNX file, or weights beside it are missing or cut off.
        ModelUnsupported: It is an ``.ort`` file, which cannot be turned back into a graph.
    """
    raise NotImplementedError


def prepare_graph(model: onnx.ModelProto, *, name: str = "model", is_continued: bool = False) -> Prepared:
    """Clean a float graph up for quantization.

    Args:
        model: Taken over: do not use it afterwards.
        name: For error sentences.
        is_continued: Take a graph that has quantized nodes already, and leave those alone.

    Raises:
        AlreadyQuantized: It has quantized nodes.
        WeightsNotFinite: A weight is NaN or infinite.
        ModelTooNew: It needs an operator set that no runtime on a board has, and cannot be written in an older one.
        ModelDamaged: It is no valid graph.
    """
    raise NotImplementedError


def quantizable_nodes(prepared: Prepared, component: str, target: Target) -> list[Node]:
    """Every node whose weights can be quantized, in the order of the graph."""
    raise NotImplementedError


def apply_assignment(
    prepared: Prepared, component: str, choices: Mapping[str, Choice], *, weights: WeightOptions | None = None
) -> Quantized:
    """Quantize the named nodes.

    Args:
        prepared: Stays as it is.
        component: For error sentences.
        choices: Node name to choice; nodes not named, and ``fp32``, stay as they are. All of them may: the result is
            then the prepared graph.
        weights: How; rounding to the nearest in blocks of 32 by default.

    Raises:
        NodeUnknown: A name is none of the quantizable nodes.
        ChoiceImpossible: A node cannot be quantized in that way.
        QuantizedLess: Fewer nodes than chosen were quantized.
    """
    raise NotImplementedError
