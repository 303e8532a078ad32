"""Our side of :mod:`edge_asr.quantize.rknn_toolkit`: a child in the toolkit's own environment."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
import numpy.typing as npt

from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.errors import EngineFailed, LibraryMissing, ModelUnsupported
from edge_asr.quantize import rknn_toolkit

RECOMMENDED = "2.5.0"
"""Toolkit that compiles and simulates streaming Zipformer. 2.2.0, which would match the runtime, simulates, but its
optimiser gives the starter model's ``/bypass_mid_2/Sub`` a wrong shape and stops."""

HOW_TO_GET = (
    "give the toolkit an environment of its own: `python3 -m venv ~/rknn`, then "
    f"`~/rknn/bin/pip install rknn-toolkit2=={RECOMMENDED} 'setuptools<81'`, and pass --toolkit ~/rknn/bin/python"
)


@dataclass(frozen=True, slots=True)
class Request:
    """One graph to be compiled."""

    role: str
    source: Path
    target: Path
    platform: str
    custom_string: str = ""
    dataset: Path | None = None
    """Lists calibration inputs; 8-bit with it, 16-bit floats without."""


class ToolkitProcess:
    """The toolkit, running."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes], folder: Path) -> None:
        self._process = process
        self._errors = errors
        self._folder = folder
        self.version = ""

    def greet(self) -> None:
        """Wait until it has imported what it needs.

        Raises:
            LibraryMissing: That environment has no toolkit, or none that can be loaded.
        """
        try:
            self.version = self._answer()["version"]
        except EngineFailed as error:
            raise LibraryMissing("rknn-toolkit2", f"{error.reason}; {HOW_TO_GET}") from error

    def convert(self, request: Request) -> None:
        """Compile a graph.

        Raises:
            ModelUnsupported: The toolkit cannot, with its last words.
        """
        try:
            self._ask(
                do="convert",
                role=request.role,
                source=str(request.source),
                target=str(request.target),
                platform=request.platform,
                custom_string=request.custom_string,
                dataset=str(request.dataset or ""),
            )
        except EngineFailed as error:
            raise ModelUnsupported(
                request.source.name, f"rknn-toolkit2 {self.version} cannot compile it: {error.reason}"
            ) from error

    def simulate(self, role: str, arrays: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """One run of a compiled graph in the simulator; arrays in the graph's order.

        Raises:
            EngineFailed: It did not run.
        """
        inputs, outputs = self._folder / "inputs.npz", self._folder / "outputs.npz"
        with inputs.open("wb") as file:
            np.savez(file, allow_pickle=False, **{str(place): array for place, array in enumerate(arrays)})
        self._ask(do="simulate", role=role, inputs=str(inputs), outputs=str(outputs))
        with np.load(outputs) as found:
            return [found[str(place)] for place in range(len(found.files))]

    def _ask(self, **request: str) -> dict[str, str]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing answer says it
        return self._answer()

    def _answer(self) -> dict[str, str]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines() or ["it does not say why"]
            raise EngineFailed(f"the toolkit ended: {said[-1]}")
        answer: dict[str, str] = msgspec.json.decode(line)
        if "error" in answer:
            raise EngineFailed(answer["error"])
        return answer


class SimulatedGraph(Graph):
    """A compiled graph in the simulator, with names, sizes and metadata of the graph it was compiled from."""

    def __init__(self, original: Graph, toolkit: ToolkitProcess) -> None:  # not Graph's: nothing is loaded here
        self._toolkit = toolkit
        self._sizes = original.output_shapes
        self.name, self.inputs, self.outputs = original.name, original.inputs, original.outputs
        self.shapes, self.types, self.metadata = original.shapes, original.types, original.metadata

    def run(self, inputs: Inputs) -> list[npt.NDArray[Any]]:
        """All outputs, in order; integers come back as what they were."""
        found = self._toolkit.simulate(self.name, [inputs[name] for name in self.inputs])
        return [
            array.reshape([int(size or 1) for size in shape]).astype(kind)
            for array, (shape, kind) in zip(found, self._sizes, strict=True)
        ]


@contextmanager
def toolkit_process(python: Path | None) -> Iterator[ToolkitProcess]:
    """The toolkit of an environment, for as long as the context lasts.

    Args:
        python: Interpreter of that environment; nothing where none was named.

    Raises:
        LibraryMissing: There is no such interpreter, or it has no toolkit.
    """
    if python is None:
        raise LibraryMissing("rknn-toolkit2", HOW_TO_GET)
    if not python.is_file():
        raise LibraryMissing(f"a Python for rknn-toolkit2 at {python}", HOW_TO_GET)
    with tempfile.TemporaryDirectory(prefix="edge-asr-rknn-") as folder, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [str(python.absolute()), "-P", rknn_toolkit.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,  # it leaves files where it runs
            env=_environment(folder),
        )
        try:
            toolkit = ToolkitProcess(process, errors, Path(folder))
            toolkit.greet()
            yield toolkit
        finally:
            process.kill()
            process.communicate()


def _environment(folder: str) -> Mapping[str, str]:
    """Nothing of ours: a search path of this interpreter would bring it our libraries."""
    return {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
