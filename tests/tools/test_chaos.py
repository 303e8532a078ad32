"""The short form of ``tools/chaos``: a real daemon is hurt under load, and nobody loses anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.chaos import SHORT, nearest_rank, recoveries
from tools.chaos_clients import Losses
from tools.chaos_faults import FAULTS

ROOT = Path(__file__).resolve().parents[2]


class Heard:
    """A client that has heard something."""

    def __init__(self, finals: list[str], *, goes_on_at: tuple[float, ...] = (), has_ended: bool = True) -> None:
        self.finals = finals
        self.segments = list(range(len(finals)))
        self.goes_on_at = list(goes_on_at)
        self.has_ended = has_ended
        self.broken_by = ""


@pytest.mark.parametrize(
    ("finals", "lost", "doubled", "changed"),
    [
        (["a", "b", "c"], 0, 0, 0),
        (["a", "c"], 1, 0, 0),
        (["a", "b", "b", "c"], 0, 1, 0),
        (["a", "x", "c"], 0, 0, 1),
        ([], 3, 0, 0),
    ],
)
def test_finals_are_held_against_an_undisturbed_session(
    finals: list[str], lost: int, doubled: int, changed: int
) -> None:
    losses = Losses()
    losses.add(["a", "b", "c"], Heard(finals))  # type: ignore[arg-type]
    assert (losses.finals_lost, losses.finals_doubled, losses.finals_changed) == (lost, doubled, changed)
    assert losses.is_clean is (not lost and not doubled)


def test_a_session_without_an_end_is_lost() -> None:
    losses = Losses()
    losses.add([], Heard([], has_ended=False))  # type: ignore[arg-type]
    assert (losses.sessions_lost, losses.is_clean) == (1, False)


def test_recovery_is_counted_until_the_last_client_goes_on() -> None:
    clients = [Heard([], goes_on_at=(11.0, 21.5)), Heard([], goes_on_at=(12.0, 21.0))]
    found = recoveries([("kill -9", 10.0), ("SIGSTOP", 20.0), ("kill -9", 30.0)], clients)  # type: ignore[arg-type]
    assert found == {"kill -9": [2.0], "SIGSTOP": [1.5]}


def test_percentiles_are_values_that_occurred() -> None:
    assert nearest_rank([3.0, 1.0, 2.0], 0.95) == 3.0
    assert nearest_rank([], 0.95) is None


@pytest.mark.model
@pytest.mark.slow
def test_nobody_loses_anything_while_the_daemon_is_hurt(tmp_path: Path) -> None:
    report = tmp_path / "chaos.json"
    words = ["--short", "--streams", "4", "--seconds", "24", "--every", "1.5", "--json", str(report)]
    ran = subprocess.run(
        [sys.executable, "-m", "tools.chaos", *words], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads(report.read_text(encoding="utf-8"))
    assert (found["sessions"], found["sessions_lost"]) == (4, 0)
    assert (found["finals_lost"], found["finals_doubled"], found["health_failures"]) == (0, 0, 0)
    assert found["finals"] >= 4 * 5
    assert set(found["faults"]) == set(SHORT) <= set(FAULTS)
