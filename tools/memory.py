"""What the daemon takes in memory, and what its worker takes beyond a bare program with the same model.

::

    tools/memory [MODEL]... [--sessions 8] [--json FILE]

For each model (a name of the store, or a directory with a manifest): a Python program that does nothing but load the
model with sherpa-onnx and decode the bundled recordings, and then the daemon, whose clients play the same recordings at
once. PSS divides shared pages among the processes that have them, so processes add up; on a machine that runs other
programs with the same libraries all figures are lower, and the difference between two of them is not.

Targets: front at most 40 MB, worker at most 30 MB beyond the bare program. Leaves with 1 when one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from edge_asr.cli.stores import choose_model, open_store
from edge_asr.families import FAMILIES
from edge_asr.resources.memory import read_process_memory, read_proportional_bytes
from edge_asr.store.store import InstalledModel
from edge_asr.workers.loading import needed_bytes
from edge_asr.workload import OPEN_VOCABULARY, bundled_clips, load_clip
from tools.chaos_clients import RATE_HZ, Client
from tools.served import served

MOST_FRONT_BYTES = 40_000_000
MOST_WORKER_BYTES = 30_000_000
SETTLE_S = 2.0
"""After the last session, before memory is read."""

BARE = """
import json, os, sys
import numpy, sherpa_onnx
factory, arguments, wave = json.loads(sys.argv[1])
recognizer = getattr(sherpa_onnx.OnlineRecognizer, factory)(**arguments, num_threads=1, provider="cpu")
stream = recognizer.create_stream()
samples = numpy.fromfile(wave, numpy.int16).astype(numpy.float32) / 32768
for start in range(0, len(samples), 1600):
    stream.accept_waveform(16000, samples[start : start + 1600])
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
recognizer.get_result(stream)
print("done", flush=True)
sys.stdin.readline()
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """One model."""

    model: str
    family: str
    files_bytes: int
    bare_bytes: int
    """PSS of the bare program; 0 for models that do not stream, for which there is none."""
    worker_bytes: int
    """PSS of the worker when its sessions have ended."""
    worker_peak_bytes: int
    """Resident, at its highest: while the model was loaded, or with all sessions."""
    front_bytes: int
    """PSS of the front, likewise."""
    estimate_bytes: int
    """What the daemon supposes before it loads the model."""

    @property
    def beyond_bytes(self) -> int:
        """Worker beyond bare program; 0 without one."""
        return self.worker_bytes - self.bare_bytes if self.bare_bytes else 0

    @property
    def meets_targets(self) -> bool:
        """Whether both do."""
        return self.front_bytes <= MOST_FRONT_BYTES and self.beyond_bytes <= MOST_WORKER_BYTES


def sound() -> bytes:
    """The bundled commands, one after the other, in 16-bit samples."""
    clips = [load_clip(clip).samples for clip in bundled_clips() if clip.vocabulary != OPEN_VOCABULARY]
    return np.concatenate([*clips, np.zeros(RATE_HZ, np.int16)]).astype("<i2").tobytes()


def bare_bytes(model: InstalledModel, wave: Path) -> int:
    """PSS of the bare program once it has decoded everything."""
    family = FAMILIES[model.manifest.family]
    if family.kind != "streaming":
        return 0
    arguments: dict[str, object] = {
        role: str(model.directory / model.manifest.files[role].path) for role in family.roles
    }
    if family.factory == "from_transducer":
        arguments["model_type"] = family.model_type
    job = json.dumps([family.factory, arguments, str(wave)])
    with subprocess.Popen(
        [sys.executable, "-c", BARE, job], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as bare:
        if bare.stdout is None or bare.stdout.readline().strip() != "done":
            raise SystemExit(f"the bare program cannot decode {model.manifest.name}")
        memory = read_proportional_bytes(bare.pid)
        bare.kill()
    return memory


async def daemon_bytes(name: str, sessions: int, audio: bytes) -> tuple[int, int, int]:
    """PSS of front and worker after all sessions, and the worker's peak."""
    async with served(name) as daemon:
        clients = [Client(daemon, audio) for _ in range(sessions)]
        await asyncio.gather(*(client.talk(is_paced=False) for client in clients))
        await asyncio.sleep(SETTLE_S)
        worker = daemon.wait_for_worker()
        found = read_proportional_bytes(daemon.pid), read_proportional_bytes(worker)
        peak = read_process_memory(worker).peak_resident_bytes
    return (*found, peak)


def measure(name: str, sessions: int, wave: Path) -> Figures:
    """Both, one after the other."""
    model = choose_model(open_store(), name)
    bare = bare_bytes(model, wave)
    front, worker, peak = asyncio.run(daemon_bytes(name, sessions, wave.read_bytes()))
    return Figures(
        model=model.manifest.name,
        family=model.manifest.family,
        files_bytes=sum((model.directory / file.path).stat().st_size for file in model.manifest.files.values()),
        bare_bytes=bare,
        worker_bytes=worker,
        worker_peak_bytes=peak,
        front_bytes=front,
        estimate_bytes=needed_bytes(model.directory, model.manifest),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["starter-en"], metavar="MODEL")
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wave = Path(folder) / "commands.raw"
        wave.write_bytes(sound())
        measured = [measure(name, args.sessions, wave) for name in args.models]
    if args.json:
        args.json.write_text(json.dumps([asdict(figures) for figures in measured], indent=1) + "\n", encoding="utf-8")
    print("model                        files   bare  worker  beyond   peak  front  estimate (MB)")
    for each in measured:
        sizes = (each.files_bytes, each.bare_bytes, each.worker_bytes, each.beyond_bytes, each.worker_peak_bytes)
        row = "".join(f"{size / 1e6:8.1f}" for size in (*sizes, each.front_bytes, each.estimate_bytes))
        print(f"{each.model:<25}{row}")
    raise SystemExit(0 if all(each.meets_targets for each in measured) else 1)


if __name__ == "__main__":
    main()
