"""What a batch has done, line by line in the output folder, so that the same command goes on where the last one ended.

A line of JSON for each recording that was heard or could not be used, behind one that says what it was heard with. A
line is written after its transcripts are safely on disk: a recording without a line is heard again, and its transcripts
are written again over the same names.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from edge_asr.batch.recordings import Recording, Stamp, stamp_of
from edge_asr.errors import BatchBusy, ConfigurationError, MachineError
from edge_asr.filenames import from_text, to_text

FOLDER = ".edge-asr-batch"
FILE = "ledger.jsonl"
FORMAT = 1


class Recipe(msgspec.Struct, frozen=True, kw_only=True, tag="recipe"):
    """What the recordings of one output folder are heard with: the same for all of them."""

    format: int = FORMAT
    model: str
    model_digest: str
    """Of all its files."""
    settings_digests: dict[str, str]
    """Of everything else that words depend on, by group of settings."""
    transcript_format: str
    channel: str
    raw: str = ""
    """How samples without a header are written; empty: recordings have headers."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, tag="recording"):
    """A recording that needs no more work, or that could not be used."""

    place: str
    """As of :func:`~edge_asr.filenames.to_text`, and so are the other names: file systems take more than JSON does."""
    file: str
    size_bytes: int
    mtime_ns: int
    outputs: dict[str, int] = {}
    """Transcripts below the output folder, and their sizes in bytes; empty when it could not be used."""
    audio_s: float = 0.0
    code: str = ""
    """Why it could not be used; empty when it was heard."""
    message: str = ""

    @property
    def stamp(self) -> Stamp:
        """The file as it was then."""
        return Stamp(self.size_bytes, self.mtime_ns)


_Line = Recipe | Entry


class Ledger:
    """The open ledger of an output folder; held by one process at a time."""

    def __init__(self, output: Path, file: IO[bytes], entries: dict[str, Entry]) -> None:
        self._output = output
        self._file = file
        self._entries = entries

    @classmethod
    def open(cls, output: Path, recipe: Recipe, *, begin_again: bool = False) -> Ledger:
        """Open or begin the ledger of a folder, which is made if it is missing.

        Args:
            output: Where transcripts go.
            recipe: What recordings are going to be heard with.
            begin_again: Forget what was done; transcripts are written over.

        Raises:
            ConfigurationError: The folder was begun with another recipe, or cannot be made.
            BatchBusy: Another process is at it.
        """
        file = _locked(output)
        try:
            if begin_again:
                file.truncate(0)
            lines = list(_lines(file))
            if _nothing_was_heard(lines):
                lines.clear()
                file.truncate(0)
            _require_same(output, lines, recipe)
            ledger = cls(output, file, {line.place: line for line in lines if isinstance(line, Entry)})
            if not lines:
                ledger._append(recipe)
        except BaseException:
            file.close()
            raise
        return ledger

    def is_done(self, recording: Recording) -> bool:
        """Whether the recording was heard as it is now, and its transcripts are still there."""
        entry = self._entries.get(to_text(recording.place))
        return (
            entry is not None
            and not entry.code
            and entry.stamp == stamp_of(recording.path)
            and all(_size(self._output / from_text(name)) == size for name, size in entry.outputs.items())
        )

    def record(self, entry: Entry) -> None:
        """Write a line; it is on disk when this returns.

        Raises:
            MachineError: It cannot be written.
        """
        self._append(entry)
        self._entries[entry.place] = entry

    def close(self) -> None:
        """Let the next process in."""
        with suppress(OSError):  # a line that could not be written was told, and is written again here
            self._file.close()

    def _append(self, line: _Line) -> None:
        try:
            self._file.write(msgspec.json.encode(line) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise MachineError(f"cannot write {self._output / FOLDER / FILE}: {error.strerror}") from error


def _locked(output: Path) -> IO[bytes]:
    folder = output / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / FILE).open("a+b")
    except OSError as error:
        raise ConfigurationError(f"cannot write to {output}: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise BatchBusy(output) from error
    return file


def _lines(file: IO[bytes]) -> Iterator[_Line]:
    """The lines so far; half a line, which a process left that was killed while it wrote, is cut off."""
    file.seek(0)
    whole = 0
    for line in file:
        try:
            decoded = msgspec.json.decode(line, type=_Line)
        except msgspec.MsgspecError:
            break
        if not line.endswith(b"\n"):
            break
        whole += len(line)
        yield decoded
    file.truncate(whole)
    file.seek(0, os.SEEK_END)


def _nothing_was_heard(lines: list[_Line]) -> bool:
    """There is no transcript yet that others would have to go together with."""
    return isinstance(next(iter(lines), None), Recipe) and all(line.code for line in lines if isinstance(line, Entry))


def _require_same(output: Path, lines: list[_Line], recipe: Recipe) -> None:
    if not lines:
        return
    before = lines[0]
    if not isinstance(before, Recipe):
        raise ConfigurationError(f"{output / FOLDER / FILE} is no ledger of edge-asr; name another folder")
    for what, old, new in (
        ("model", before.model, recipe.model),
        ("files of the model", before.model_digest, recipe.model_digest),
        ("--format", before.transcript_format, recipe.transcript_format),
        ("--channel", before.channel, recipe.channel),
        ("--raw", before.raw or "none", recipe.raw or "none"),
        *_settings(before, recipe),
    ):
        if old != new:
            raise ConfigurationError(
                f"{output} was begun with other {what} ({old}, now {new}), and its transcripts would not go together; "
                "name another folder, or hear all recordings again with --again"
            )


def _settings(before: Recipe, recipe: Recipe) -> Iterator[tuple[str, str, str]]:
    for group in sorted(before.settings_digests.keys() | recipe.settings_digests.keys()):
        old, new = (each.settings_digests.get(group, "none") for each in (before, recipe))
        yield f"settings of {group}", old, new


def _size(path: Path) -> int:
    stamp = stamp_of(path)
    return -1 if stamp is None else stamp.size_bytes
