"""A session of ONNX Runtime for comparing models on a workstation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

from edge_asr.errors import EngineFailed, ModelDamaged

Inputs = dict[str, npt.NDArray[Any]]
"""What one run of a graph is given, by name."""

_ERRORS_ONLY = 3
_LOAD_ERRORS = (state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf, state.NoSuchFile,
                state.NotImplemented, state.RuntimeException)  # fmt: skip
_RUN_ERRORS = (state.Fail, state.InvalidArgument, state.RuntimeException)
_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}


class Graph:
    """A loaded graph, its inputs and outputs in order."""

    def __init__(self, source: Path | bytes, name: str, threads: int) -> None:
        """Load it.

        Raises:
            ModelDamaged: ONNX Runtime cannot.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Without VNNI the 8-bit products of x86 saturate, and errors show that no ARM board has.
        options.add_session_config_entry("session.x64quantprecision", "1")
        try:
            self._session = onnxruntime.InferenceSession(
                str(source) if isinstance(source, Path) else source, options, providers=["CPUExecutionProvider"]
            )
        except _LOAD_ERRORS as error:
            raise ModelDamaged(name, f"ONNX Runtime cannot load it: {_first_line(error)}") from error
        self.name = name
        self.inputs: tuple[str, ...] = tuple(entry.name for entry in self._session.get_inputs())
        self.outputs: tuple[str, ...] = tuple(entry.name for entry in self._session.get_outputs())
        self.shapes: dict[str, tuple[int | str | None, ...]] = {
            entry.name: tuple(entry.shape) for entry in self._session.get_inputs()
        }
        """Of the inputs; sizes that vary are names or nothing."""
        self.types = {entry.name: _TYPES.get(entry.type, np.float32) for entry in self._session.get_inputs()}
        self.metadata: dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)

    def run(self, inputs: Inputs) -> list[npt.NDArray[Any]]:
        """All outputs, in order.

        Raises:
            EngineFailed: The inputs do not fit the graph.
        """
        try:
            return list(self._session.run(None, inputs))
        except _RUN_ERRORS as error:
            raise EngineFailed(f"{self.name}: {_first_line(error)}") from error

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


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
