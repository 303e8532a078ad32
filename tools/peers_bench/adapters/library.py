"""A peer that is a Python library: a program of ``children/`` in the library's own environment."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edge_asr.store.store import InstalledModel
from tools.peers_bench.peer import Ability, Decoded, Heard, PeerFailed
from tools.peers_bench.recordings import Recording

CHILDREN = Path(__file__).parents[1] / "children"


@dataclass(frozen=True, slots=True)
class LibraryPeer:
    """Its program, its Python, and what the program is told about the model."""

    name: str
    python: Path
    program: str
    """File name in ``children/``."""
    options: Callable[[InstalledModel | None], Mapping[str, Any]]
    abilities: frozenset[Ability] = field(default=frozenset(("decode", "listen")))

    @contextmanager
    def start(self, model: InstalledModel | None) -> Iterator[RunningLibrary]:
        """Load the model in a fresh process.

        Raises:
            PeerFailed: It ended instead; its last words are in the message.
        """
        command = [str(self.python), str(CHILDREN / self.program), json.dumps(self.options(model))]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=dict(os.environ)
            )
            running = RunningLibrary(process, lambda: _last_words(self.name, errors))
            with process:
                try:
                    running.answer()
                    yield running
                    running.end()
                finally:
                    process.kill()


class RunningLibrary:
    """The program with its model loaded."""

    def __init__(self, process: subprocess.Popen[str], last_words: Callable[[], str]) -> None:
        self.pid = process.pid
        self._process = process
        self._last_words = last_words

    def decode(self, recording: Recording) -> Decoded:
        return Decoded(**self._ask("decode", recording))

    def listen(self, recording: Recording) -> Heard:
        return Heard(**self._ask("listen", recording))

    def answer(self) -> dict[str, Any]:
        """The next line.

        Raises:
            PeerFailed: There is none: the program has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise PeerFailed(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """Let it go."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)

    def _ask(self, what: str, recording: Recording) -> dict[str, Any]:
        assert self._process.stdin is not None
        print(json.dumps({"do": what, "path": str(recording.path)}), file=self._process.stdin, flush=True)
        return self.answer()


def _last_words(name: str, errors: Any) -> str:  # noqa: ANN401  any file
    errors.seek(0)
    return f"{name} ended: {errors.read()[-600:].strip() or 'without a word'}"
