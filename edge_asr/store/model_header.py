"""What a model file says about itself: everything but its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

FLOAT = 1
INT32 = 6
INT64 = 7
FLOAT16 = 10
INTEGERS = (INT32, INT64)
"""``TensorProto.DataType``, also that of ``.ort`` files; ``INTEGERS`` are int32 and int64."""


@dataclass(frozen=True, slots=True)
class TensorShape:
    """An input or output of the graph."""

    name: str
    elem_type: int
    """``TensorProto.DataType``; 0 where the file does not say."""
    dims: tuple[int | str, ...]
    """Sizes, or the names of those that vary; empty strings for nameless ones."""


@dataclass(frozen=True, slots=True)
class OnnxHeader:
    """Everything of a model file but its weights."""

    kind: Literal["onnx", "ort", "rknn"]
    ir_version: int = 0
    opsets: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Domain to version; the standard domain is the empty string."""
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    inputs: tuple[TensorShape, ...] = ()
    """Without those that are weights."""
    outputs: tuple[TensorShape, ...] = ()
    op_types: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Operator to how often it stands in the graph and in the branches and loops inside it."""
    weight_types: frozenset[int] = frozenset()
    """``TensorProto.DataType`` of the weights."""
    external_bytes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """File, relative to this one, that holds weights, to the bytes it must have at least."""
    ort_version: str = ""
    """``.ort`` only: the version of that format."""
    chip: str = ""
    """``.rknn`` only: what it was compiled for."""
    toolkit: str = ""
    """``.rknn`` only: version of the toolkit that compiled it."""

    @property
    def opset(self) -> int:
        """Version of the standard operators; 0 where only others are used."""
        return self.opsets.get("", 0) or self.opsets.get("ai.onnx", 0)
