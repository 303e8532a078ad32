"""Pull the plug of a microphone in the middle of a sentence, put it back, and measure: ``tools/microphone.py``.

A recording is played into a sink of a PulseAudio of our own, and ``edge-asr listen`` hears its monitor. In every round
the sink is taken away while somebody speaks and given back a second later, while somebody speaks again. Measured is the
time from then until the microphone is back, and until the next words are written. Then a command is spoken: its words
must be right, the first and the last included. Leaves with 1 when they were not, when anything but one ``lost`` and one
``back`` was said, or when captions took longer than three seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sound_server import DEVICE, SoundServer, missing, sound_server

from edge_asr.sources.file import open_file

CLIP = Path(__file__).resolve().parent.parent / "edge_asr" / "clips" / "set-the-temperature-to-joe.flac"
SAID = "set the temperature to twenty five percent"
RATE_HZ = 16_000
MOST_S = 3.0
AWAY_S = 1.0

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Round:
    """One pull of the plug."""

    back_s: float
    """From the device being there again to the microphone being open."""
    words_s: float
    """From there to the next words; somebody speaks all the time."""
    heard: str
    lost: int
    back: int

    @property
    def is_right(self) -> bool:
        return self.heard == SAID and self.lost == self.back == 1 and self.words_s <= MOST_S


class Listener:
    """What ``edge-asr listen --jsonl`` says, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.heard: list[Event] = []

    def wait(self, condition: Callable[[Event], bool]) -> float:
        """When the next event came for which the condition holds, monotonic seconds."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.heard.append(json.loads(line))
            if condition(self.heard[-1]):
                return time.monotonic()
        raise SystemExit("edge-asr listen has ended")

    def count(self, state: str) -> int:
        return sum(map(is_state(state), self.heard))


def main() -> None:
    parser = argparse.ArgumentParser(description="Pull the plug of a microphone and measure how captions go on.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    if lacking := missing():
        raise SystemExit(f"not installed: {lacking}")
    with tempfile.TemporaryDirectory() as folder, sound_server(Path(folder)) as server, listening(server) as listener:
        listener.wait(is_state("listening"))
        rounds = [one_round(server, listener, Path(folder), number) for number in range(options.rounds)]
    slowest = max(one.words_s for one in rounds)
    right = sum(one.is_right for one in rounds)
    print(f"{right} of {len(rounds)} rounds right; words after {median(rounds):.2f} s, {slowest:.2f} s at most")
    if options.json is not None:
        document = {"rounds": [asdict(one) for one in rounds], "right": right, "words_s_max": slowest}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    sys.exit(0 if right == len(rounds) else 1)


def one_round(server: SoundServer, listener: Listener, folder: Path, number: int) -> Round:
    speech = write_wav(folder / "speech.wav", [*[command()] * 6])
    spoken_once = write_wav(folder / "once.wav", [silence(0.3), command(), silence(2.0)])
    listener.heard.clear()
    with server.playing(speech):
        listener.wait(is_midway)
        server.unplug()
    listener.wait(is_state("lost"))
    time.sleep(AWAY_S)
    server.plug_in()
    there = time.monotonic()
    with server.playing(speech):
        back = listener.wait(is_state("back"))
        words = listener.wait(is_partial)
    listener.wait(is_final)
    with server.playing(spoken_once):
        listener.wait(is_final)
    heard, lost, again = listener.heard[-1]["text"], listener.count("lost"), listener.count("back")
    found = Round(back - there, words - there, heard, lost, again)
    print(f"round {number + 1}: back after {found.back_s:.2f} s, words after {found.words_s:.2f} s, {heard!r}")
    return found


@contextmanager
def listening(server: SoundServer) -> Iterator[Listener]:
    words = [sys.executable, "-m", "edge_asr", "listen", "--device", DEVICE, "-m", "starter-en", "--jsonl"]
    with subprocess.Popen(
        words, env=os.environ | server.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield Listener(process)
        finally:
            process.kill()


def median(rounds: list[Round]) -> float:
    return statistics.median(one.words_s for one in rounds)


def is_state(state: str) -> Callable[[Event], bool]:
    return lambda event: event["type"] == "microphone" and event["state"] == state


def is_partial(event: Event) -> bool:
    return bool(event["type"] == "partial")


def is_midway(event: Event) -> bool:
    return is_partial(event) and len(event["text"].split()) >= 3


def is_final(event: Event) -> bool:
    return bool(event["type"] == "final")


def command() -> np.ndarray[Any, Any]:
    return np.concatenate([chunk.samples for chunk in open_file(CLIP)])


def silence(seconds: float) -> np.ndarray[Any, Any]:
    return np.zeros(round(seconds * RATE_HZ), np.float32)


def write_wav(path: Path, parts: list[np.ndarray[Any, Any]]) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(np.round(np.concatenate(parts) * 32767).astype("<i2").tobytes())
    return path


if __name__ == "__main__":
    main()
