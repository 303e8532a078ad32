"""The model directory that comes out: whole under its name, or not there at all."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from edge_asr.errors import ConfigurationError, MachineError
from edge_asr.manifest import MANIFEST_FILE, ModelManifest, format_manifest, renamed
from edge_asr.quantize.document import FILE
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.workshop import Made
from edge_asr.store.disk import require_space, writing_to
from edge_asr.store.whole_directory import put_in_place

REPORT_FILE = "report.html"
CANDIDATES = "candidates"
STEPS = "steps"
TEMPORARY = "temporary"
LOCK = "lock"
"""Inside the work folder."""


def require_writable(directory: Path, original: Path) -> None:
    """Refuse a place that holds something else.

    Args:
        directory: Where the model shall be.
        original: Directory of the model it is made from.

    Raises:
        ConfigurationError: There is a file, or a directory that this command did not write; or no place to put it; or
            it is the original's own, or the one we are in, which is replaced when the model is finished.
    """
    if directory.resolve() == original.resolve():
        raise ConfigurationError(f"{directory} is the model to be quantized; name another directory")
    if Path.cwd().is_relative_to(directory.resolve()):
        raise ConfigurationError(f"{directory} is where this command runs; name a directory to be made")
    if not directory.absolute().parent.is_dir():
        raise ConfigurationError(f"{directory}: there is no folder {directory.absolute().parent} to put it into")
    if directory.is_dir() and not any(directory.iterdir()):
        return
    if directory.exists() and not (directory / FILE).is_file():
        raise ConfigurationError(
            f"{directory} exists and was not written by this command; name another directory, or remove it"
        )


def work_folder(directory: Path) -> Path:
    """Where candidates and transcripts lie until the model is finished; an interrupted run goes on from it."""
    return directory.absolute().parent / f".{directory.name}.quantize"


@contextlib.contextmanager
def working_on(directory: Path, progress: Progress) -> Iterator[Path]:
    """The work folder of an output, for one command alone; temporary files lie in it too.

    What was left by a command that was killed is cleared away, and the output put back that it was replacing. What was
    measured stays there if the work is not finished; graphs and their inputs, which are large and soon made again, do
    not.

    Raises:
        MachineError: Another command makes a model of the same name.
        ConfigurationError: Nothing can be written there.
        DiskFull: While the block was writing, the space ran out.
    """
    folder = work_folder(directory)
    try:
        folder.mkdir(exist_ok=True)
        lock = (folder / LOCK).open("w")
    except OSError as error:
        raise ConfigurationError(f"{directory}: nothing can be written there: {error.strerror}") from error
    with lock, writing_to(folder):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MachineError(
                f"another edge-asr quantize is making {directory} already; wait for it, or name another directory"
            ) from error
        _clear(directory, folder)
        try:
            with _temporary_files_in(folder / TEMPORARY):
                yield folder
        finally:
            _clear(directory, folder)
            if {path.name for path in folder.glob("*")} - {LOCK}:
                progress.say(f"what was measured is kept in {folder}; the same command goes on from there")
            else:
                shutil.rmtree(folder, ignore_errors=True)


def write_model(directory: Path, made: Made, name: str, fill: Callable[[Path], None]) -> ModelManifest:
    """Put a candidate under its final name, replacing what this command wrote there before.

    Args:
        directory: Its final name.
        made: The candidate.
        name: Of the model, in its manifest.
        fill: Writes what else belongs into the directory it is given.

    Raises:
        DiskFull: It does not fit; what was there before still is.
    """
    parent = directory.absolute().parent
    staging = _staging(directory)
    shutil.rmtree(staging, ignore_errors=True)
    manifest = renamed(made.candidate.manifest, name)
    # Companions are links in the candidate and files in the output.
    require_space(parent, sum(entry.stat().st_size for entry in made.candidate.directory.iterdir()))
    with writing_to(parent):
        try:
            staging.mkdir()
            for entry in made.candidate.directory.iterdir():
                shutil.copyfile(entry, staging / entry.name)
            (staging / MANIFEST_FILE).write_text(format_manifest(manifest), encoding="utf-8")
            fill(staging)
            put_in_place(staging, directory.absolute(), old=_old(directory))
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return manifest


def folder_bytes(folder: Path) -> int:
    """What lies in a folder, links not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        DiskFull: It does not fit; what was there before still is.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    with writing_to(path.absolute().parent):
        try:
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


@contextlib.contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Whatever this process writes for a moment, by any library, goes there: it is as large as the model.

    Files in the system's own folder would stay when the process is killed, and may not fit there.
    """
    folder.mkdir()
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _clear(directory: Path, folder: Path) -> None:
    """Remove what is large and soon made again."""
    old = _old(directory)
    if old.exists() and not directory.exists():
        old.rename(directory)  # killed between the two renamings
    for path in (_staging(directory), old, *(folder / name for name in (CANDIDATES, STEPS, TEMPORARY))):
        shutil.rmtree(path, ignore_errors=True)


def _staging(directory: Path) -> Path:
    return directory.absolute().with_name(f".{directory.name}.staging")


def _old(directory: Path) -> Path:
    return directory.absolute().with_name(f".{directory.name}.old")
