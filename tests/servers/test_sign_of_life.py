"""What the service manager hears while the daemon runs."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from edge_asr.servers.progress import ProgressWatch
from edge_asr.servers.sign_of_life import SignOfLife, sentence_of
from edge_asr.servers.systemd import Notifier
from edge_asr.settings import WorkerSettings
from edge_asr.workers.base import PoolStatus, WorkerStatus
from tests.support.values import SERVING, STARTING, STATS

BUSY = msgspec.structs.replace(SERVING, workers=(WorkerStatus("0", "ready", "", 42, 0, 1, STATS),))
TOO_LATE_S = 1000.0


class Ear:
    """The manager's end of the socket."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.setblocking(False)

    def heard(self) -> list[str]:
        messages = []
        while True:
            try:
                messages.append(self.socket.recv(1000).decode())
            except BlockingIOError:
                return messages


@pytest.fixture
def ear(tmp_path: Path) -> Iterator[Ear]:
    made = Ear(tmp_path / "notify")
    yield made
    made.socket.close()


def sign_of_life(ear: Ear, watchdog_s: float = 60.0) -> SignOfLife:
    return SignOfLife(Notifier(ear.socket.getsockname()), ProgressWatch(WorkerSettings()), watchdog_s)


def test_the_watchdog_is_fed_three_times_a_period_and_the_sentence_said_once(ear: Ear) -> None:
    sign = sign_of_life(ear, 15.0)
    assert sign.every_s == 5.0
    sign.give(SERVING, 0.0)
    sign.give(SERVING, 5.0)
    assert ear.heard() == [f"STATUS={sentence_of(SERVING)}", "WATCHDOG=1", "WATCHDOG=1"]


def test_without_a_watchdog_only_sentences_are_sent(ear: Ear) -> None:
    sign = sign_of_life(ear, 0.0)
    sign.give(SERVING, 0.0)
    assert ear.heard() == [f"STATUS={sentence_of(SERVING)}"]


def test_a_stuck_worker_is_not_covered_up(ear: Ear, caplog: pytest.LogCaptureFixture) -> None:
    sign = sign_of_life(ear)
    sign.give(BUSY, 0.0)
    ear.heard()
    sign.give(BUSY, TOO_LATE_S)
    sign.give(BUSY, TOO_LATE_S + 1)
    said = ear.heard()
    assert [message[:40] for message in said] == ["STATUS=stuck: worker 0 has sessions and "] * 2
    assert len([line for line in caplog.messages if "the watchdog is not fed" in line]) == 1


def test_a_worker_that_goes_on_is_believed_again(ear: Ear) -> None:
    sign = sign_of_life(ear)
    sign.give(BUSY, 0.0)
    sign.give(BUSY, TOO_LATE_S)
    ear.heard()
    report = msgspec.structs.replace(STATS, cpu_s=99.0)
    moved = msgspec.structs.replace(BUSY, workers=(msgspec.structs.replace(BUSY.workers[0], stats=report),))
    sign.give(moved, TOO_LATE_S + 1)
    assert ear.heard()[-1] == "WATCHDOG=1"


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (SERVING, "serving starter-en on cpu, 1 of 16 sessions, real-time factor 0.200"),
        (STARTING, "loading the model"),
        (msgspec.structs.replace(SERVING, restarts=2, stats=None), "1 of 16 sessions, 2 worker restarts"),
        (
            msgspec.structs.replace(SERVING, state="restarting", reason="the worker ended (x)"),
            "restarting: the worker ended (x); 1 of 16 sessions wait",
        ),
        (msgspec.structs.replace(SERVING, state="draining"), "stopping, 1 sessions still run"),
        (PoolStatus("failed", "no memory", 0, 4, 0, 0, None, None), "failed: no memory"),
    ],
)
def test_the_sentence_says_what_the_daemon_is_doing(status: PoolStatus, sentence: str) -> None:
    assert sentence_of(status).endswith(sentence)
