"""Transcripts on disk: whole under their name, or not there."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from edge_asr.batch.ledger import FOLDER
from edge_asr.errors import MachineError, TranscriptUnwritable
from edge_asr.filenames import readable

_ABOUT_THE_NAME = frozenset(
    (errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ELOOP, errno.EINVAL, errno.EILSEQ)
)
"""Too long, taken by a folder, or with characters that this file system has not: FAT knows neither colon nor \\xff."""


def write_transcripts(output: Path, documents: Mapping[str, str]) -> dict[str, int]:
    """Write the transcripts of one recording.

    Args:
        output: The batch's folder, which holds its ledger.
        documents: Path below it to the text.

    Returns:
        Path to size in bytes, for the ledger. Everything is on disk: a power failure loses none of it.

    Raises:
        TranscriptUnwritable: This one cannot have its name there; others can.
        MachineError: Nothing can be written any more.
    """
    return {name: _write(output, name, text.encode()) for name, text in documents.items()}


def _write(output: Path, name: str, content: bytes) -> int:
    path = output / name
    unfinished = output / FOLDER / "unfinished"  # one writer, so one name; on the same file system as the final one
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        if error.errno in _ABOUT_THE_NAME:
            raise TranscriptUnwritable(readable(str(path)), str(error.strerror)) from error
        raise MachineError(f"cannot write {readable(str(path))}: {error.strerror}") from error
    return len(content)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
