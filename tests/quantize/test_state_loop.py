from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.quantize.state_loop import compare_loops
from tests.support.tiny_encoders import write_stateful_transducer

GENERATOR = np.random.default_rng(4)
FEATURES = [GENERATOR.standard_normal((count, 80)).astype(np.float32) for count in (200, 120)]


class Wrong(Graph):
    """Its first state is a little larger each time."""

    def run(self, inputs: Inputs) -> list[npt.NDArray[Any]]:
        outputs = super().run(inputs)
        outputs[1] = outputs[1] * np.float32(1.5) + np.float32(0.1)
        return outputs


def test_the_same_graph_is_alike_in_every_output(tmp_path: Path) -> None:
    path = write_stateful_transducer(tmp_path, "lstm")["encoder"]
    compared = compare_loops(Graph(path, "encoder", 1), Graph(path, "encoder", 1), "lstm-transducer", FEATURES)
    assert compared.steps > 2
    assert compared.least_cosine > 0.999999
    assert max(output.largest_error for output in compared.outputs) == 0


def test_an_error_in_a_state_is_seen_by_its_name(tmp_path: Path) -> None:
    path = write_stateful_transducer(tmp_path, "lstm")["encoder"]
    before = Graph(path, "encoder", 1)
    compared = compare_loops(before, Wrong(path, "encoder", 1), "lstm-transducer", FEATURES)
    errors = {output.name: output.largest_error for output in compared.outputs}
    assert errors[before.outputs[1]] > 0.09
