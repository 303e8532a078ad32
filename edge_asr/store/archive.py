"""Members out of archives, without trusting the archive: no path of its own choosing, no link, no device, no bomb.

``.tar.bz2``, ``.tar.gz``, ``.tar.xz``, ``.tar``, ``.zip`` and ``.whl``; the kind is found by contents, not by name.
"""

from __future__ import annotations

import contextlib
import errno
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from edge_asr.errors import ModelDamaged

MAX_EXTRACTED_BYTES = 8 << 30
"""All members together; the largest published streaming model unpacks to well under 1 GiB."""
COPY_BYTES = 1 << 20

_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,  # a kind of compression that zipfile does not know
    RuntimeError,  # a password is needed
    ValueError,  # sizes and names out of all bounds
)
"""What the readers of the standard library raise on an archive that is damaged or strange."""

_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO)
"""What is the machine's fault, and not the archive's."""

Member = tuple[str, int, IO[bytes]]
"""Name, size and contents of a regular file."""


def extract_members(archive: Path, wanted: Mapping[str, Path], label: str) -> None:
    """Extract named members.

    Args:
        archive: The archive.
        wanted: Member name to the file it becomes; names may lack the archive's top folder.
        label: What the archive is, for error sentences.

    Raises:
        ModelDamaged: The archive cannot be read, or a member is missing or not a regular file.
        OSError: There is no space, or nothing may be written there.
    """
    missing = dict(wanted)
    with _reading(archive, label) as members:
        for name, _, contents in members:
            key = name if name in missing else _without_top_folder(name)
            if key in missing:
                _copy(contents, missing.pop(key), MAX_EXTRACTED_BYTES, label)
            if not missing:
                return
    raise ModelDamaged(label, f"the archive lacks {', '.join(sorted(missing))}")


def extract_all(archive: Path, directory: Path, label: str, max_bytes: int = MAX_EXTRACTED_BYTES) -> None:
    """Extract every regular file into ``directory``; an archive with anything suspicious is refused as a whole.

    Raises:
        ModelDamaged: A path leaves the directory, a member is a link or device, or there is too much of it.
    """
    left = max_bytes
    with _reading(archive, label) as members:
        for name, _, contents in members:
            target = directory / _safe(name, label)
            target.parent.mkdir(parents=True, exist_ok=True)
            left -= _copy(contents, target, left, label)


@contextlib.contextmanager
def _reading(archive: Path, label: str) -> Iterator[Iterator[Member]]:
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                yield _zip_members(zipped, label)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as tar:
                yield _tar_members(tar, label)
        else:
            raise ModelDamaged(label, f"{archive.name} is neither a tar nor a zip archive")
    except ModelDamaged:
        raise
    except _BROKEN as error:
        if isinstance(error, OSError) and error.errno in _MACHINE:
            raise
        raise ModelDamaged(label, f"{archive.name} cannot be unpacked: {error}") from error


def _tar_members(tar: tarfile.TarFile, label: str) -> Iterator[Member]:
    for entry in tar:
        if entry.isdir():
            continue
        if not entry.isfile():
            raise ModelDamaged(label, f"member {entry.name!r} is a link or a device, which a model has no use for")
        contents = tar.extractfile(entry)
        if contents is not None:
            yield entry.name.removeprefix("./"), entry.size, contents


def _zip_members(zipped: zipfile.ZipFile, label: str) -> Iterator[Member]:
    for entry in zipped.infolist():
        if entry.is_dir():
            continue
        if entry.external_attr >> 28 not in (0, 8):  # the Unix file type; 8 is a regular file
            raise ModelDamaged(label, f"member {entry.filename!r} is a link or a device, which a model has no use for")
        with zipped.open(entry) as contents:
            yield entry.filename, entry.file_size, contents


def _copy(contents: IO[bytes], target: Path, most: int, label: str) -> int:
    copied = 0
    with target.open("wb") as file:
        while block := contents.read(COPY_BYTES):
            copied += len(block)
            if copied > most:
                raise ModelDamaged(label, f"the archive unpacks to more than {MAX_EXTRACTED_BYTES >> 20} MiB")
            file.write(block)
    return copied


def _safe(name: str, label: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts:
        raise ModelDamaged(label, f"member {name!r} would be written outside the model's directory")
    return path


def _without_top_folder(name: str) -> str:
    return name.partition("/")[2]
