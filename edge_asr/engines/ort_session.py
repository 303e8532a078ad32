"""A loaded graph in ONNX Runtime, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from edge_asr.engines.ort_providers import (
    CPU_PROVIDER,
    LOAD_ERRORS,
    NO_COVERAGE,
    RUN_ERRORS,
    WORKSTATION,
    Coverage,
    OrtRuntime,
    coverage_of,
    first_line,
    open_session,
)
from edge_asr.errors import EngineFailed, ModelDamaged

Inputs = dict[str, npt.NDArray[Any]]
"""What one run of a graph is given, by name."""

_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}


class Graph:
    """A loaded graph, its inputs and outputs in order."""

    def __init__(self, source: Path | bytes, name: str, threads: int, runtime: OrtRuntime = WORKSTATION) -> None:
        """Load it.

        Raises:
            ModelDamaged: ONNX Runtime cannot.
            ProviderUnavailable: The execution provider does not run all of it, and that is not allowed.
        """
        try:
            self._session = open_session(source, name, threads, runtime)
        except LOAD_ERRORS as error:
            raise ModelDamaged(name, f"ONNX Runtime cannot load it: {first_line(error)}") from error
        self._is_elsewhere = runtime.execution_provider != CPU_PROVIDER
        self.name = name
        self.inputs: tuple[str, ...] = tuple(entry.name for entry in self._session.get_inputs())
        self.outputs: tuple[str, ...] = tuple(entry.name for entry in self._session.get_outputs())
        self.shapes: dict[str, tuple[int | str | None, ...]] = {
            entry.name: tuple(entry.shape) for entry in self._session.get_inputs()
        }
        """Of the inputs; sizes that vary are names or nothing."""
        self.output_shapes: tuple[tuple[tuple[int | str | None, ...], type[np.generic]], ...] = tuple(
            (tuple(entry.shape), _TYPES.get(entry.type, np.float32)) for entry in self._session.get_outputs()
        )
        """Size and type of each output."""
        self.types = {entry.name: _TYPES.get(entry.type, np.float32) for entry in self._session.get_inputs()}
        self.metadata: dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)

    def coverage(self) -> Coverage:
        """Which provider really runs its operators; nothing on the CPU, where there is no question."""
        return coverage_of(self._session) if self._is_elsewhere else NO_COVERAGE

    def run(self, inputs: Inputs) -> list[npt.NDArray[Any]]:
        """All outputs, in order.

        Raises:
            EngineFailed: The inputs do not fit the graph.
        """
        try:
            return list(self._session.run(None, inputs))
        except RUN_ERRORS as error:
            raise EngineFailed(f"{self.name}: {first_line(error)}") from error

    @contextmanager
    def keys_needed(self) -> Iterator[dict[str, str]]:
        """The metadata, where a missing or wrong key is a damaged model.

        Raises:
            ModelDamaged: With the key.
        """
        try:
            yield self.metadata
        except (KeyError, ValueError) as error:
            raise ModelDamaged(self.name, f"its metadata lack a number for {error}") from error
