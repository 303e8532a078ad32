"""What goes into each graph while a model decodes, kept on disk.

A streaming graph takes its own states, dozens of them, so it can only be calibrated by letting the model run: the stock
readers cannot (onnxruntime#19601). Steps are taken from whole recordings, evenly, because the first chunks' states are
all zero; they lie on disk, one file a step, so that memory holds one at a time however long the recordings are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_session import Inputs
from edge_asr.engines.ort_streaming import StreamingRunner
from edge_asr.errors import InputError

MOST_STEPS = 200
"""Of each graph; a transducer's joiner runs eight times as often as its encoder."""


class RecordedSteps:
    """Inputs of the graphs of one model, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def record(self, runner: StreamingRunner, recordings: Iterable[Float32Array], most: int = MOST_STEPS) -> None:
        """Decode the recordings greedily and keep inputs, at most so many of each graph.

        Whenever there are twice as many as wanted every other one is dropped and half as many are kept from then on, so
        they come from all recordings alike, however many there are.

        Raises:
            InputError: Not one step is possible.
        """
        seen: Counter[str] = Counter()
        every: dict[str, int] = {}
        for samples in recordings:
            for role, inputs in runner.steps(samples):
                stride = every.setdefault(role, 1)
                if seen[role] % stride == 0:
                    self._write(role, seen[role], inputs)
                    every[role] = self._thin_out(role, stride, most)
                seen[role] += 1
        if not seen:
            raise InputError("the calibration recordings are too short for one step of the model; add longer ones")

    def roles(self) -> set[str]:
        """Graphs that ran."""
        return {path.name for path in self._folder.iterdir() if path.is_dir()}

    def count(self, role: str) -> int:
        """Steps of a graph."""
        return len(self._files(role))

    def read(self, role: str) -> Iterator[Inputs]:
        """The steps of a graph, in the order in which they were made."""
        for path in self._files(role):
            with np.load(path) as arrays:
                yield {name: arrays[name] for name in arrays.files}

    def _write(self, role: str, number: int, inputs: Inputs) -> None:
        folder = self._folder / role
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{number:08d}.npz").open("wb") as file:
            np.savez(file, allow_pickle=False, **inputs)

    def _thin_out(self, role: str, stride: int, most: int) -> int:
        files = self._files(role)
        if len(files) < 2 * most:
            return stride
        for path in files[1::2]:
            path.unlink()
        return 2 * stride

    def _files(self, role: str) -> list[Path]:
        return sorted((self._folder / role).glob("*.npz"))
