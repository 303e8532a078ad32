"""Voices that were enrolled, in the store: one small file each, ``speakers/NAME.json``.

A voice can be compared only with what the same model makes of speech, so each file says which model that was. The
recordings themselves are not kept.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import msgspec

from edge_asr.errors import ConfigurationError, StoreNotWritable
from edge_asr.manifest import ModelManifest
from edge_asr.store.disk import writing_to
from edge_asr.store.locations import StoreLocations

LONGEST_NAME_BYTES = 64
"""In UTF-8: escaped, it is still a file name."""

_FOLDER, _ENDING = "speakers", ".json"


class EnrolledSpeaker(msgspec.Struct, frozen=True):
    """Contents of one file."""

    name: str
    model: str
    """Store name of the embedding model."""
    digest: str
    """SHA-256 of the model's file; empty where its manifest knows none."""
    embedding: tuple[float, ...]
    """Mean of the recordings' embeddings, each of length 1 before; itself of length 1."""
    recordings: int
    speech_s: float
    """Seconds of speech in them."""

    def is_of(self, model: ModelManifest) -> bool:
        """Whether it can be compared with what this model says."""
        return (self.model, self.digest) == (model.name, model.files["model"].sha256)


@dataclass(frozen=True, slots=True)
class Shelf:
    """What could be read of all voices."""

    speakers: tuple[EnrolledSpeaker, ...]
    """By name."""
    damaged: tuple[Path, ...]
    """Files that are none."""


class SpeakerShelf:
    """The voices of all places of the store; the first of a name counts.

    Args:
        locations: Where the store is.
    """

    def __init__(self, locations: StoreLocations) -> None:
        self._locations = locations

    def read(self) -> Shelf:
        """Everything that is there; a damaged file hides its own voice only."""
        found: dict[str, EnrolledSpeaker] = {}
        damaged = []
        for path in self._files():
            try:
                speaker = msgspec.json.decode(path.read_bytes(), type=EnrolledSpeaker)
            except (OSError, msgspec.MsgspecError):
                damaged.append(path)
            else:
                found.setdefault(speaker.name, speaker)
        return Shelf(tuple(found[name] for name in sorted(found)), tuple(damaged))

    def write(self, speaker: EnrolledSpeaker) -> Path:
        """Keep a voice, in place of one of the same name; whole or not at all, also when the power fails.

        Raises:
            StoreNotWritable: No place can be written.
            DiskFull: There is no room.
        """
        folder = self._locations.writable() / _FOLDER
        folder.mkdir(exist_ok=True)
        path = folder / _file_name(speaker.name)
        with writing_to(folder, is_store=True), tempfile.NamedTemporaryFile(dir=folder, delete=False) as unfinished:
            unfinished.write(msgspec.json.encode(speaker))
            unfinished.flush()
            os.fsync(unfinished.fileno())
            Path(unfinished.name).chmod(0o644)
            Path(unfinished.name).replace(path)
        return path

    def remove(self, name: str) -> None:
        """Forget a voice, in every place that has it.

        Raises:
            ConfigurationError: Nobody of that name was enrolled.
            StoreNotWritable: It lies where this user may not write.
        """
        paths = [path for path in self._files() if path.name == _file_name(name)]
        if not paths:
            names = ", ".join(speaker.name for speaker in self.read().speakers) or "nobody"
            raise ConfigurationError(f"no speaker {name!r} was enrolled; enrolled: {names}")
        for path in paths:
            try:
                path.unlink()
            except OSError as error:
                raise StoreNotWritable([path.parent]) from error

    def _files(self) -> Iterator[Path]:
        for root in self._locations.roots:
            yield from sorted((root / _FOLDER).glob(f"*{_ENDING}"))


def checked_name(name: str) -> str:
    """The name without spaces around it.

    Raises:
        ConfigurationError: It is empty, too long, or holds what no terminal shows.
    """
    name = name.strip()
    if not name or not name.isprintable() or len(name.encode(errors="replace")) > LONGEST_NAME_BYTES:
        raise ConfigurationError(
            f"{name[:LONGEST_NAME_BYTES]!r} is no name for a speaker: 1 to {LONGEST_NAME_BYTES} bytes of printable "
            "text are"
        )
    return name


def _file_name(name: str) -> str:
    return quote(name, safe="") + _ENDING
