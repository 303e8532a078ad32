"""Real human speech to measure with: the telephone prompts of Debian's ``asterisk-core-sounds-en`` packages.

568 prompts by one professional voice, 16 kHz G.722, CC BY-SA 3.0: never part of this repository. Used are the clips of
1.2 to 25 seconds whose transcript holds no bracketed sound description.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import soundfile

SOUNDS = Path("/usr/share/asterisk/sounds/en_US_f_Allison")
TRANSCRIPTS = Path("/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz")
SHORTEST_S = 1.2
LONGEST_S = 25.0


@dataclass(frozen=True, slots=True)
class Prompt:
    """One clip and what is said in it."""

    name: str
    path: Path
    """16 kHz mono WAV."""
    text: str
    duration_s: float


def load_prompts(folder: Path) -> list[Prompt]:
    """Decode the prompts into ``folder`` (once) and list those that are used, in order of their names."""
    if not TRANSCRIPTS.exists() or not SOUNDS.exists():
        sys.exit("the prompts are not installed; run: apt install asterisk-core-sounds-en asterisk-core-sounds-en-g722")
    folder.mkdir(parents=True, exist_ok=True)
    return sorted(_used(folder), key=lambda prompt: prompt.name)


def _used(folder: Path) -> Iterator[Prompt]:
    for line in gzip.decompress(TRANSCRIPTS.read_bytes()).decode().splitlines():
        name, separator, text = line.partition(":")
        source = SOUNDS / f"{name}.g722"
        if not separator or name.startswith(";") or "[" in text or not source.exists():
            continue
        path = folder / f"{name.replace('/', '__')}.wav"
        if not path.exists():
            _decode(source, path)
        duration_s = soundfile.info(path).duration
        if SHORTEST_S <= duration_s <= LONGEST_S:
            yield Prompt(name, path, text.strip(), duration_s)


def _decode(source: Path, path: Path) -> None:
    partial = path.with_suffix(".part.wav")
    command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "g722", "-i", source, "-ar", "16000", partial]
    subprocess.run(command, check=True)
    partial.rename(path)
