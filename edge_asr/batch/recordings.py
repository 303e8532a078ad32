"""Which recordings a batch has, and what their transcripts are called. Reads folders and lists, nothing else."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from edge_asr.errors import ConfigurationError
from edge_asr.filenames import readable
from edge_asr.workload import AUDIO_SUFFIXES

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Some editors begin a file with it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A file to hear."""

    path: Path
    """As it was named, or found below the folder that was named."""
    place: str
    """Its transcript's path below the output folder, without the format's suffix: ``calls/0815.wav``."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells whether a file is still the one that was heard."""

    size_bytes: int
    mtime_ns: int


def stamp_of(path: Path) -> Stamp | None:
    """Size and time of a file; ``None`` when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Stamp(found.st_size, found.st_mtime_ns)


def find_recordings(inputs: Sequence[str], output: Path, suffixes: Collection[str] = AUDIO_SUFFIXES) -> list[Recording]:
    """The recordings of a batch, in order, none twice.

    Args:
        inputs: Files; folders, whose recordings are found by their suffix at any depth, also behind links.
        output: Where transcripts go; not looked into.
        suffixes: Of recordings in folders, in small letters.

    Raises:
        ConfigurationError: Two recordings would share a transcript.
    """
    found: dict[str, Recording] = {}
    seen: set[str] = set()
    for recording in _all(inputs, os.path.realpath(output), suffixes):
        real = os.path.realpath(recording.path)
        if real in seen:
            continue
        seen.add(real)
        if (other := found.get(recording.place)) is not None:
            same = readable(str(output / recording.place))
            raise ConfigurationError(
                f"{readable(str(other.path))} and {readable(str(recording.path))} would both be written to {same}; "
                "name the folder that holds both instead"
            )
        found[recording.place] = recording
    return list(found.values())


def read_list(content: bytes) -> list[str]:
    """The paths in a list, which need not be UTF-8.

    One a line, without empty lines and lines that begin with ``#``; or, as ``find -print0`` writes them, each with a
    zero byte behind it, whatever else is in it.
    """
    if b"\0" in content:
        return [os.fsdecode(path) for path in content.split(b"\0") if path]
    lines = (line.rstrip(b"\r") for line in content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"))
    return [os.fsdecode(line) for line in lines if line.strip() and not line.startswith(b"#")]


def _all(inputs: Sequence[str], output: str, suffixes: Collection[str]) -> Iterator[Recording]:
    for name in inputs:
        path = Path(name)
        if path.is_dir():
            yield from _below(path, output, suffixes)
        else:
            yield Recording(path, path.name)


def _below(folder: Path, output: str, suffixes: Collection[str]) -> Iterator[Recording]:
    """Folders that are links come after all others: what can be reached without one keeps its place."""
    unreadable: list[Path] = []
    pending = deque([folder])
    seen: set[str] = set()
    while pending:
        for place, folders, files in os.walk(
            pending.popleft(), onerror=lambda error: unreadable.append(Path(error.filename))
        ):
            real = os.path.realpath(place)
            if real in seen or (real == output and place != str(folder)):
                folders.clear()
                continue
            seen.add(real)
            links = {name for name in folders if Path(place, name).is_symlink()}
            pending.extend(Path(place, name) for name in sorted(links))
            folders[:] = sorted(set(folders) - links)
            for name in sorted(files):
                path = Path(place, name)
                if path.suffix.lower() in suffixes:
                    yield Recording(path, path.relative_to(folder).as_posix())
    # Like a recording that cannot be read, so that it is named at the end and the others are heard.
    for path in unreadable:
        yield Recording(path, path.relative_to(folder).as_posix())
