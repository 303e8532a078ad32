"""A graph on an execution provider that fails: never another provider in its place, without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as state

from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.errors import EngineFailed
from tests.support import tiny_models


class Failing:
    """A native session whose device is gone."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def run(self, *_: Any) -> None:
        raise state.EPFail("[ONNXRuntimeError] : 11 : EP_FAIL : QnnGraph_execute error. Error code: 6031")


def test_a_provider_that_fails_while_running_is_an_error_and_the_cpu_does_not_take_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = Graph(tiny_models.write_nemo_ctc_streaming(tmp_path)["model"], "model", 1)
    inputs: Inputs = {
        name: np.zeros([size if isinstance(size, int) else 1 for size in shape], graph.types[name])
        for name, shape in graph.shapes.items()
    }
    monkeypatch.setattr(graph._session, "_sess", Failing(graph._session._sess))
    with pytest.raises(EngineFailed, match="QnnGraph_execute error"):
        graph.run(inputs)
    assert capsys.readouterr().out == ""
