"""The part of ``tools/demo`` that runs inside the virtual environment."""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import edge_asr
from edge_asr.scoring import score

CLIPS = Path(edge_asr.__file__).parent / "clips"
EDGE_ASR = (sys.executable, "-m", "edge_asr")
DICTATION = ("silero-vad", "moonshine-tiny-en")
OPEN_SPEECH_WER = 0.15
"""Open speech may differ by a word or two; commands must be exact."""

COMMANDS = frozenset(
    ("go-forward.flac", "five-five.flac", "turn-on-the-lights-emma.flac", "pick-up-the-box-george.flac")
)
"""Of the bundled commands: two by people, two by voices that were never trained on."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A bundled recording and what is said in it."""

    path: Path
    text: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/demo", description="See edge-asr work.")
    parser.add_argument("--keep", action="store_true", help="leave the last daemon running")
    keep = parser.parse_args().keep

    wrong = show("starter-en", spoken_commands(), most_wrong=0.0, keep=False)
    heading("Fetching the model for open dictation (once)")
    if fetch_dictation():
        wrong += show("moonshine-tiny-en", bundled_clips("open"), most_wrong=OPEN_SPEECH_WER, keep=keep)
    else:
        print("It cannot be fetched now, so the demonstration ends with spoken commands.")
        if keep:
            Daemon("starter-en").leave_running()
    for sentence in wrong:
        print(f"WRONG: {sentence}")
    return 1 if wrong else 0


def show(model: str, clips: list[Clip], *, most_wrong: float, keep: bool) -> list[str]:
    """Start a daemon, stream the clips through both doors, print the figures; returns what was not as it should be."""
    heading(f"{model}: starting the daemon")
    daemon = Daemon(model)
    wrong = []
    try:
        for protocol, url in (("native", daemon.http), ("wyoming", daemon.wyoming)):
            heading(f"{model}: {len(clips)} recordings at the pace of speech over {protocol}")
            for clip in clips:
                heard = stream(protocol, url, clip.path)
                errors = score([clip.text], [heard]).error_rate
                if errors > most_wrong:
                    wrong.append(f"{clip.path.name} over {protocol}: heard {heard!r} instead of {clip.text!r}")
        heading(f"{model}: figures")
        print_figures(daemon.status())
    finally:
        if keep and not wrong:
            daemon.leave_running()
        else:
            daemon.stop()
    return wrong


class Daemon:
    """``edge-asr serve`` on free ports."""

    def __init__(self, model: str) -> None:
        self.http = f"http://127.0.0.1:{free_port()}"
        self.wyoming = f"tcp://127.0.0.1:{free_port()}"
        port = self.http.rpartition(":")[2]
        command = [*EDGE_ASR, "serve", "-m", model, "--port", port, "--wyoming", self.wyoming]
        descriptor, log = tempfile.mkstemp(prefix="edge-asr-demo-", suffix=".log")
        self._log = Path(log)
        self._process = subprocess.Popen(command, stderr=descriptor, start_new_session=True)
        os.close(descriptor)
        self._wait_until_ready()

    def status(self) -> dict[str, Any]:
        """What the daemon says about itself."""
        ran = subprocess.run([*EDGE_ASR, "status", self.http, "--json"], capture_output=True, text=True, check=True)
        document: dict[str, Any] = json.loads(ran.stdout)
        return document

    def stop(self) -> None:
        """End it as systemd would."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=30)
        self._log.unlink()

    def leave_running(self) -> None:
        """Say where it is and how to end it."""
        print(f"\nThe daemon goes on: {self.http} and Wyoming at {self.wyoming}")
        print(f"Its log is {self._log}; end it with: kill {self._process.pid}")

    def _wait_until_ready(self) -> None:
        while self._process.poll() is None:
            ran = subprocess.run(
                [*EDGE_ASR, "status", self.http, "--json"], capture_output=True, text=True, check=False
            )
            if ran.returncode == 0 and json.loads(ran.stdout)["state"] == "ready":
                return
        sys.exit(f"the daemon did not start:\n{self._log.read_text()}")


def stream(protocol: str, url: str, path: Path) -> str:
    """Let the client stream one recording and print what comes; returns what it heard in the end."""
    print(f"\n  {path.name}", flush=True)
    command = [*EDGE_ASR, "client", "--protocol", protocol, "--realtime", url, str(path)]
    finals = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as client:
        assert client.stdout is not None
        for line in client.stdout:
            print(f"    {line}", end="", flush=True)
            finals.append(line.strip())
    return " ".join(finals)


def print_figures(status: dict[str, Any]) -> None:
    """The figures of the daemon: real-time factor and memory; the client has printed its latencies itself."""
    model, memory = status["model"], status["memory_bytes"]
    print(f"  model              {model['model']} ({model['family']}), provider {model['provider']}")
    if status["rtf"] is not None:
        print(f"  real-time factor   {status['rtf']:.3f} (time in the engine per second of audio)")
    for process, used_bytes in memory.items():
        print(f"  memory of {process:<8} {used_bytes / 2**20:.0f} MiB resident")


def fetch_dictation() -> bool:
    """Whether both models are there in the end."""
    return all(subprocess.run([*EDGE_ASR, "models", "pull", name], check=False).returncode == 0 for name in DICTATION)


def spoken_commands() -> list[Clip]:
    """A few of them; all would take a minute at the pace of speech."""
    return [clip for clip in bundled_clips("commands") if clip.path.name in COMMANDS]


def bundled_clips(vocabulary: str) -> list[Clip]:
    """The bundled recordings whose words a model of that vocabulary knows."""
    with (CLIPS / "clips.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [Clip(CLIPS / row["audio"], row["text"]) for row in rows if row["vocabulary"] == vocabulary]


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def heading(text: str) -> None:
    """A line that stands out."""
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
