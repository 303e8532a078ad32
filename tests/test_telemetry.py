"""Nothing that this package loads reports to anybody: onnxruntime's wheels would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.tiny_models import write_lstm_transducer

LOADS_A_GRAPH = """
import sys
from pathlib import Path
from edge_asr.engines.ort_session import Graph
Graph(Path(sys.argv[1]), "tiny", 1)
"""


def test_onnxruntime_writes_nothing_into_the_home_of_its_user(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    graph = write_lstm_transducer(tmp_path / "model")["decoder"]
    unset = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run(
        [sys.executable, "-c", LOADS_A_GRAPH, graph],
        env=unset | {"HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    assert not list(home.rglob("*"))
