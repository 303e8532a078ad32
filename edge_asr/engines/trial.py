"""Load a model in a process of its own and let it decode once: what ends that process ends nothing else.

``python -m edge_asr.engines.trial`` is the child: settings on standard input, the description on standard output.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from edge_asr import errors
from edge_asr.engines.base import EngineDescription
from edge_asr.errors import EdgeAsrError, ModelDamaged
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

_NATIVE_PREFIX = re.compile(r"^\S+\.(?:cc|h):\S+?:\d+\s*")
"""How the engine begins a line: source file, function, line number."""


class _Order(msgspec.Struct):
    """What the child is told."""

    directory: str
    manifest: ModelManifest
    settings: EngineSettings


class _Answer(msgspec.Struct):
    """What the child answers: a description, or the error it met."""

    description: EngineDescription | None = None
    error: str = ""
    """Name of the class in :mod:`edge_asr.errors`."""
    message: str = ""


def trial_load(
    directory: Path, manifest: ModelManifest, settings: EngineSettings, timeout_s: float = 120
) -> EngineDescription:
    """Load the model in a child process.

    Args:
        directory: Where the files are.
        manifest: What they are.
        settings: How they are loaded.
        timeout_s: A model that takes longer is given up.

    Returns:
        What the engine says of itself after a warm-up decode.

    Raises:
        ModelError: The model cannot be loaded, also when it ended the child.
        MachineError: The provider does not run here.
    """
    order = msgspec.json.encode(_Order(str(directory), manifest, settings))
    command = [sys.executable, "-m", "edge_asr.engines.trial"]
    try:
        ran = subprocess.run(command, input=order, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelDamaged(manifest.name, f"loading it takes longer than {timeout_s:.0f} s") from error
    if ran.returncode != 0 or not ran.stdout:
        raise ModelDamaged(manifest.name, _epitaph(ran.returncode, ran.stderr.decode("utf-8", "replace")))
    answer = msgspec.json.decode(ran.stdout, type=_Answer)
    if answer.description is None:
        raise _rebuilt(answer)
    return answer.description


def _epitaph(status: int, stderr: str) -> str:
    """Why the child ended, with the last thing the engine said."""
    how = f"exit status {status}"
    if status < 0:
        with contextlib.suppress(ValueError):
            how = f"killed by {signal.Signals(-status).name}"
    lines = [_NATIVE_PREFIX.sub("", line).strip() for line in stderr.splitlines() if line.strip()]
    last = f": {lines[-1]}" if lines else ""
    return f"the engine ends the process that loads it ({how}){last}"


def _rebuilt(answer: _Answer) -> EdgeAsrError:
    """The error of the child, as one of its class with the same sentence."""
    kind = getattr(errors, answer.error, EdgeAsrError)
    rebuilt: EdgeAsrError = kind.__new__(kind)
    Exception.__init__(rebuilt, answer.message)
    return rebuilt


def main() -> None:
    """The child."""
    from edge_asr.engines.registry import load_engine

    order = msgspec.json.decode(sys.stdin.buffer.read(), type=_Order)
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever native code prints must not mix with the answer
    try:
        engine = load_engine(Path(order.directory), order.manifest, order.settings)
        answer = _Answer(description=engine.describe())
    except EdgeAsrError as error:
        answer = _Answer(error=type(error).__name__, message=str(error))
    os.write(answers, msgspec.json.encode(answer))


if __name__ == "__main__":
    main()
