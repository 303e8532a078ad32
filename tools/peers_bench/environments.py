"""A virtual environment for each peer, made once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.peers_bench.peer import PeerFailed


@dataclass(frozen=True, slots=True)
class Environment:
    """What a peer needs from the package index."""

    name: str
    requirements: tuple[str, ...]

    def python(self, folder: Path) -> Path:
        """Its Python, installed into ``folder`` if it is not there yet.

        Raises:
            PeerFailed: It cannot be installed here.
        """
        venv = folder / self.name
        stamp = venv / "installed-for"
        wanted = " ".join(self.requirements)
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
            print(f"installing {wanted} into {venv} (once)", file=sys.stderr)
            _run([sys.executable, "-m", "venv", str(venv)])
            _run([str(venv / "bin/python"), "-m", "pip", "install", "--quiet", *self.requirements])
            stamp.write_text(wanted, encoding="utf-8")
        return venv / "bin/python"


SHERPA = Environment("sherpa", ("sherpa-onnx==2.0.1", "sherpa-onnx-bin==2.0.1", "numpy"))
MOONSHINE = Environment("moonshine", ("moonshine-voice==0.0.68", "numpy"))
POCKETSPHINX = Environment("pocketsphinx", ("pocketsphinx==5.1.1", "numpy"))


def _run(command: list[str]) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise PeerFailed(f"{' '.join(command)} failed: {ran.stderr[-600:]}")
