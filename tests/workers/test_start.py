"""What a worker that starts does without: each import is time in which its sessions wait."""

from __future__ import annotations

import subprocess
import sys

import pytest

START = """
import sys, edge_asr.workers.loading, edge_asr.workers.service
from edge_asr.commands.book import CommandBook, nearest
from edge_asr.settings import CommandSettings
CommandBook(nearest(CommandSettings()), {})
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def imported() -> set[str]:
    answer = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    return set(answer.stdout.split())


@pytest.mark.parametrize("name", ["hassil", "yaml", "kaldifst", "rapidfuzz", "onnxruntime", "asyncio", "soundfile"])
def test_a_worker_starts_without_what_only_some_sessions_need(imported: set[str], name: str) -> None:
    assert "numpy" in imported
    assert name not in imported
