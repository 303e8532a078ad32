"""How much disk and memory a quantization takes, known before anything is made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edge_asr.errors import NotEnoughMemory
from edge_asr.quantize.order import Order
from edge_asr.quantize.save import EXTERNAL_FROM_BYTES
from edge_asr.quantize.workshop import files_bytes, graph_files
from edge_asr.resources.memory import available_bytes
from edge_asr.store.disk import require_space
from edge_asr.store.inspect import inspect_model

TEMPORARY_COPIES = 2
"""Of a graph: as it is read by ONNX Runtime, and as that writes it."""

SHARES: Mapping[str, float] = {
    "int8": 0.3,
    "int8-static": 1.0,
    "weight8": 0.3,
    "weight4": 0.2,
    "fp16": 0.5,
    "auto": 0.3,
}
"""Of a model's size, that of a candidate; static recipes keep products that make states in float32."""

CANDIDATES = 12
"""Of a search, at most, that are on disk together."""

MEMORY_COPIES = 6
"""Of the largest graph, while it and its settled copy are compared."""
LARGE_MEMORY_COPIES = 4
"""Of one whose weights lie in a file of their own; it is not compared."""


def needed_bytes(order: Order) -> int:
    """The most that is on disk at one time, beside what is recorded of each step.

    While graphs are prepared those are copies of the largest one; later every component of every candidate that is
    kept, and of the output.
    """
    sizes = _sizes(order)
    candidates = CANDIDATES if order.recipe == "auto" else 1
    made = round(sum(sizes) * SHARES[order.recipe] * (candidates + 1))
    return max(TEMPORARY_COPIES * max(sizes, default=0), made)


def needed_memory_bytes(order: Order) -> int:
    """The most that preparing a graph takes, beside the libraries."""
    largest = max(_sizes(order), default=0)
    return largest * (MEMORY_COPIES if largest < EXTERNAL_FROM_BYTES else LARGE_MEMORY_COPIES)


def require_room(order: Order, folder: Path) -> None:
    """Refuse to begin what cannot end.

    Args:
        order: What is to be done.
        folder: Where it is done.

    Raises:
        DiskFull: Less is free on the disk.
        NotEnoughMemory: Less is free in memory.
        ModelError: The model is damaged.
    """
    inspect_model(order.original.directory, order.original.manifest, any_version=True)
    require_space(folder, needed_bytes(order))
    memory, free = needed_memory_bytes(order), available_bytes()
    if memory > free:
        raise NotEnoughMemory(memory >> 20, free >> 20, f"quantizing {order.original.manifest.name!r}")


def _sizes(order: Order) -> list[int]:
    return [files_bytes(path) for path in graph_files(order.original).values()]
