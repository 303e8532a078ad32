"""What a worker that starts does without: each import is time in which its sessions wait."""

from __future__ import annotations

import subprocess
import sys

import pytest

IMPORTS = "import sys, edge_asr.workers.loading, edge_asr.workers.service; print(*sys.modules)"


@pytest.fixture(scope="module")
def imported() -> set[str]:
    answer = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    return set(answer.stdout.split())


@pytest.mark.parametrize("name", ["hassil", "yaml", "kaldifst", "onnxruntime", "asyncio", "soundfile"])
def test_a_worker_starts_without_what_only_some_sessions_need(imported: set[str], name: str) -> None:
    assert "numpy" in imported
    assert name not in imported
