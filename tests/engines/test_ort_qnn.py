"""Qualcomm's plugin, where it is installed; on x86 its simulator runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from tests.support import tiny_models
from tests.support.engine_cases import PACKAGE

_THEN_READ = """
import sys
from pathlib import Path
from edge_asr.engines.ort_providers import OrtRuntime, open_session
open_session(Path(sys.argv[1]), "model", 1, OrtRuntime("QNN", allows_cpu=True))
import soundfile
print(len(soundfile.read(sys.argv[2])[0]))
"""


def test_recordings_are_read_whole_after_the_plugin_is_loaded(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime_qnn", reason="onnxruntime-qnn is not installed; it is in the extra npu-qnn")
    model = tiny_models.write_nemo_ctc_streaming(tmp_path)["model"]
    recording = PACKAGE / "clips" / "go-forward.flac"
    child = subprocess.run(
        [sys.executable, "-c", _THEN_READ, str(model), str(recording)], capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    assert int(child.stdout.split()[-1]) == soundfile.info(recording).frames
