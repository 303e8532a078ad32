"""Asks a daemon all the time how it is, and notes how long each answer takes: what operators and clients do."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from edge_asr.statistics import Percentile, percentile
from tools.chaos_daemon import Daemon

EVERY_S = 0.2
PATIENCE_S = 10.0


class Probe:
    """A context manager; what is asked, one after the other, while it lasts.

    Args:
        daemon: Who is asked.
    """

    def __init__(self, daemon: Daemon) -> None:
        self.answers_ms: dict[str, list[float]] = {}
        self._questions: Mapping[str, Callable[[], None]] = {
            "health": lambda: _get(f"{daemon.http}/health/ready"),
            "metrics": lambda: _get(f"{daemon.http}/metrics"),
            "describe": lambda: describe(daemon.wyoming_port),
        }
        self._failure: Exception | None = None
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._has_ended.set()
        self._thread.join()

    def figures(self) -> dict[str, dict[str, float]]:
        """By question; see :func:`figures_of`.

        Raises:
            OSError: A question was not answered, so that there are no figures.
        """
        if self._failure is not None:
            raise self._failure
        return {name: figures_of(answers) for name, answers in self.answers_ms.items()}

    def _ask(self) -> None:
        try:
            while not self._has_ended.wait(EVERY_S):
                self._ask_each()
        except OSError as error:
            self._failure = error

    def _ask_each(self) -> None:
        for name, question in self._questions.items():
            asked = time.perf_counter()
            question()
            self.answers_ms.setdefault(name, []).append(1000 * (time.perf_counter() - asked))


def figures_of(answers_ms: list[float]) -> dict[str, float]:
    """Of one question: how many answers, the slowest, and what it is judged by, the 99th percentile, in milliseconds.

    Where there are too few answers for a percentile the slowest one counts.
    """
    p99 = percentile(answers_ms, 99)
    judged = p99.value if isinstance(p99, Percentile) else max(answers_ms)
    return {"answers": len(answers_ms), "judged_ms": judged, "slowest_ms": max(answers_ms)}


def describe(port: int) -> None:
    """Wyoming's question for what there is, up to the last byte of the answer's first line."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        connection.sendall(b'{"type": "describe"}\n')
        answer = b""
        while b"\n" not in answer:
            piece = connection.recv(1 << 16)
            if not piece:
                raise ConnectionError(f"the daemon hung up after {answer!r}")
            answer += piece


def _get(url: str) -> None:
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        answer.read()
