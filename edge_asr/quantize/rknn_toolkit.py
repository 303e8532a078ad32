"""Runs inside the environment of Rockchip's toolkit, not in ours: converts graphs and simulates them.

A program of its own: ``python rknn_toolkit.py`` reads one JSON object a line from standard input and writes one a line
to standard output. It imports nothing of edge-asr, because the toolkit wants old versions of half its dependencies
(numpy 1, onnx 1.18, torch 2.4) and so lives in a virtual environment of its own.

========== ===========================================================================================
request    answer
========== ===========================================================================================
convert    ``{"version"}``; writes the ``.rknn`` file, and is ready to simulate it
simulate   ``{}``; reads inputs from an ``.npz`` file and writes outputs to another, in their orders
========== ===========================================================================================

An answer with ``error`` is a sentence of the toolkit.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

_STDOUT, _STDERR = 1, 2


class Converter:
    """The graphs of one model, by role."""

    def __init__(self) -> None:
        from rknn.api import RKNN

        self._new = RKNN
        self._graphs: dict[str, Any] = {}

    def convert(
        self, role: str, source: str, target: str, platform: str, custom_string: str, dataset: str
    ) -> dict[str, str]:
        """Compile one graph; with a data set its activations and weights become 8-bit."""
        rknn = self._graphs[role] = self._new(verbose=False)
        options = {"custom_string": custom_string} if custom_string else {}
        _check("configure", rknn.config(target_platform=platform, **options))
        _check("read the graph", rknn.load_onnx(source))
        _check("build", rknn.build(do_quantization=bool(dataset), dataset=dataset or None))
        _check("write the file", rknn.export_rknn(target))
        _check("start its simulator", rknn.init_runtime())
        return {"version": version("rknn-toolkit2")}

    def simulate(self, role: str, inputs: str, outputs: str) -> dict[str, str]:
        """One run; arrays are stored as ``0``, ``1`` … in the order of the graph."""
        import numpy as np

        with np.load(inputs) as arrays:
            given = [arrays[str(place)] for place in range(len(arrays.files))]
        results = self._graphs[role].inference(given, data_format=["nchw"] * len(given))
        if results is None:
            raise RuntimeError("the simulator gives no result")
        np.savez(outputs, **{str(place): array for place, array in enumerate(results)})
        return {}


def _check(doing: str, status: int) -> None:
    if status != 0:
        raise RuntimeError(f"the toolkit cannot {doing} (status {status})")


@contextlib.contextmanager
def _stdout_kept_clean() -> Iterator[int]:
    """The toolkit prints what it does; answers must not mix with that."""
    answers = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    yield answers


def main() -> None:
    """Answer until the input ends."""
    with _stdout_kept_clean() as descriptor, os.fdopen(descriptor, "w", encoding="utf-8") as answers:
        converter = Converter()
        print(json.dumps({"version": version("rknn-toolkit2")}), file=answers, flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            act = converter.convert if request.pop("do") == "convert" else converter.simulate
            try:
                answer = act(**request)
            except Exception as error:  # noqa: BLE001  the toolkit raises whatever it likes
                words = str(error).strip().splitlines() or [type(error).__name__]
                answer = {"error": words[-1]}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
