"""The part of ``tools/instruction_count`` that is written in Python.

A process that transcribes is counted twice, with a short and with a long recording; the difference is what audio costs,
since starting Python and loading the model cost the same in both.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from tools.arm64_boards import BOARDS
from tools.arm64_command import DEFAULT_CPU, emulated_environment, ensure_emulator
from tools.arm64_programs import CannotEmulate, ensure_program
from tools.arm64_sysroot import CHECKOUT, Sysroot, ensure_sysroot

MODEL = "starter-en"
CLIP = CHECKOUT / "edge_asr" / "clips" / "austen-0870.flac"
SHORT, LONG = 1, 2
"""How many times the clip is heard."""

REFERENCE = CHECKOUT / "tools" / "instruction_count.json"
TOLERANCE = 0.02
"""Part of the reference by which a count may differ from it."""

PLUGIN_SOURCE = CHECKOUT / "tools" / "instruction_count_plugin.c"
FIXED = {"EDGE_ASR_ENGINE_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True, slots=True)
class Cost:
    """What was counted."""

    cpu: str
    audio_s: float
    """By how much the long recording is longer."""
    short: int
    """Instructions of the whole process."""
    long: int

    @property
    def per_audio_second(self) -> int:
        """Instructions, rounded."""
        return round((self.long - self.short) / self.audio_s)

    def figures(self) -> dict[str, Any]:
        """As printed."""
        return {
            "cpu": self.cpu,
            "model": MODEL,
            "clip": CLIP.name,
            "audio_s": self.audio_s,
            "instructions_per_audio_second": self.per_audio_second,
        }


def main() -> int:
    options = _parse()
    try:
        cost = count(options.cpu)
    except CannotEmulate as error:
        sys.exit(f"tools/instruction_count: {error}")
    print(json.dumps(cost.figures(), indent=2))
    references: dict[str, int] = json.loads(REFERENCE.read_text())
    if options.renew:
        renewed = references | {cost.cpu: cost.per_audio_second}
        REFERENCE.write_text(json.dumps(renewed, indent=2, sort_keys=True) + "\n")
    elif options.check and (complaint := compare(cost, references)):
        print(complaint, file=sys.stderr)
        return 1
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/instruction_count",
        description="Count the ARM instructions that transcribing one second of audio takes, with one engine thread.",
    )
    parser.add_argument("--cpu", choices=BOARDS, default=DEFAULT_CPU, help=f"default: {DEFAULT_CPU} (Raspberry Pi 4)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help=f"fail when it is not that of {REFERENCE.name}")
    what.add_argument("--renew", action="store_true", help=f"write it to {REFERENCE.name}")
    return parser.parse_args()


def compare(cost: Cost, references: dict[str, int]) -> str:
    """What is wrong with the cost, or nothing; less than the reference is wrong too, as it would hide a later rise."""
    renew = f"if that is meant, run `tools/instruction_count --cpu {cost.cpu} --renew` and commit {REFERENCE.name}"
    if cost.cpu not in references:
        return f"{REFERENCE.name} says nothing about {cost.cpu}; {renew}"
    change = cost.per_audio_second / references[cost.cpu] - 1
    if abs(change) <= TOLERANCE:
        return ""
    return (
        f"a second of audio takes {change:+.1%} instructions on {cost.cpu} against the reference, more than the "
        f"{TOLERANCE:.0%} that are tolerated; {renew}"
    )


# Counting.


def count(cpu: str) -> Cost:
    """Run both recordings through ``edge-asr transcribe`` on such a core.

    Raises:
        CannotEmulate: This machine lacks what is needed.
    """
    sysroot = ensure_sysroot(ensure_emulator())
    emulator = ensure_program(["qemu-aarch64"], "qemu-user")  # statically linked ones cannot load plugins
    counting = Sysroot(sysroot.folder, emulator)
    with tempfile.TemporaryDirectory() as folder:
        plugin = build_plugin(emulator, Path(folder))
        recordings = {repeats: _write_recording(Path(folder), repeats) for repeats in (SHORT, LONG)}
        _transcribe(counting, cpu, recordings[SHORT])  # so that Python finds everything compiled
        counts = {
            repeats: _counted(counting, cpu, recording, plugin, Path(folder) / "count")
            for repeats, recording in recordings.items()
        }
    clip_s = soundfile.info(CLIP).duration
    return Cost(cpu, round((LONG - SHORT) * clip_s, 3), counts[SHORT], counts[LONG])


def build_plugin(emulator: str, folder: Path) -> Path:
    """Compile the plugin for this emulator."""
    compiler = ensure_program(["gcc", "cc"], "gcc")
    said = subprocess.run([emulator, "--version"], capture_output=True, text=True, check=True).stdout
    plugin = folder / "count.so"
    interface = plugin_interface(said)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", f"-DINTERFACE={interface}", "-o", plugin, PLUGIN_SOURCE], check=True
    )
    return plugin


def plugin_interface(emulator_version: str) -> int:
    """Version of the plugin interface that an emulator takes, from what it says with ``--version``."""
    found = re.search(r"version (\d+)", emulator_version)
    return 2 if found and int(found[1]) >= 9 else 1


def _write_recording(folder: Path, repeats: int) -> Path:
    samples, rate = soundfile.read(CLIP, dtype="int16")
    path = folder / f"{repeats}.wav"
    soundfile.write(path, np.tile(samples, repeats), rate)
    return path


def _counted(sysroot: Sysroot, cpu: str, recording: Path, plugin: Path, into: Path) -> int:
    _transcribe(sysroot, cpu, recording, ("-plugin", f"{plugin},count={into}"))
    return int(into.read_text())


def _transcribe(sysroot: Sysroot, cpu: str, recording: Path, emulator_options: tuple[str, ...] = ()) -> None:
    command = sysroot.python_command(cpu, emulator_options)
    command += ["-m", "edge_asr", "transcribe", "--model", MODEL, str(recording)]
    environment = emulated_environment(os.environ, sysroot.commands(cpu)) | FIXED
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
