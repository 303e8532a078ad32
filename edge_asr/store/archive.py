"""Members out of archives, without trusting the archive: no path of its own choosing, no link, no device, no bomb.

``.tar.bz2``, ``.tar.gz``, ``.tar.xz``, ``.tar``, ``.zip`` and ``.whl``; the kind is found by contents, not by name.
"""

from __future__ import annotations

import contextlib
import errno
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
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

Member = tuple[str, IO[bytes] | None]
"""Name and contents; no contents for a link or a device."""

Progress = Callable[[str, int, int], None]
"""Called with what is being unpacked, bytes of the archive read so far, and its size."""


def extract_members(archive: Path, wanted: Mapping[str, Path], label: str, progress: Progress | None = None) -> None:
    """Extract named members; others are passed over, whatever they are.

    Args:
        archive: The archive.
        wanted: Member name to the file it becomes; names may lack the archive's top folder.
        label: What the archive is, for error sentences.
        progress: Told how far the archive has been read.

    Raises:
        ModelDamaged: The archive cannot be read, or a member is missing or not a regular file.
        OSError: There is no space, or nothing may be written there.
    """
    missing = dict(wanted)
    with _reading(archive, label, progress) as members:
        for name, contents in members:
            key = name if name in missing else _without_top_folder(name)
            if key in missing:
                _copy(_regular(name, contents, label), missing.pop(key), MAX_EXTRACTED_BYTES, label)
            if not missing:
                return
    raise ModelDamaged(label, f"the archive lacks {', '.join(sorted(missing))}")


def extract_all(archive: Path, directory: Path, label: str, max_bytes: int = MAX_EXTRACTED_BYTES) -> None:
    """Extract every regular file into ``directory``; an archive with anything suspicious is refused as a whole.

    Raises:
        ModelDamaged: A path leaves the directory, a member is a link or device, or there is too much of it.
        OSError: There is no space, or nothing may be written there.
    """
    left = max_bytes
    with _reading(archive, label, None) as members:
        for name, contents in members:
            target = directory / _safe(name, label)
            target.parent.mkdir(parents=True, exist_ok=True)
            left -= _copy(_regular(name, contents, label), target, left, label)


@contextlib.contextmanager
def _reading(archive: Path, label: str, progress: Progress | None) -> Iterator[Iterator[Member]]:
    try:
        with _Watched(archive, label, progress) as file:
            yield _members(file, label)
    except ModelDamaged:
        raise
    except _BROKEN as error:
        if isinstance(error, OSError) and error.errno in _MACHINE:
            raise
        raise ModelDamaged(label, f"{archive.name} cannot be unpacked: {error}") from error


class _Watched(io.FileIO):
    """The archive's file, which tells how far it has been read."""

    def __init__(self, archive: Path, label: str, progress: Progress | None) -> None:
        super().__init__(archive)
        self._size = archive.stat().st_size
        self._label = f"unpacking {label}"
        self._progress = progress

    def read(self, size: int | None = -1) -> bytes:
        block = super().read(-1 if size is None else size)
        if self._progress:
            self._progress(self._label, self.tell(), self._size)
        return block or b""


def _members(file: _Watched, label: str) -> Iterator[Member]:
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as zipped:
            yield from _zip_members(zipped)
        return
    file.seek(0)
    if not tarfile.is_tarfile(file):
        raise ModelDamaged(label, "it is neither a tar nor a zip archive")
    file.seek(0)
    with tarfile.open(fileobj=file) as tar:
        yield from _tar_members(tar)


def _tar_members(tar: tarfile.TarFile) -> Iterator[Member]:
    for entry in tar:
        if not entry.isdir():
            yield entry.name.removeprefix("./"), tar.extractfile(entry) if entry.isfile() else None


def _zip_members(zipped: zipfile.ZipFile) -> Iterator[Member]:
    for entry in zipped.infolist():
        if entry.is_dir():
            continue
        if entry.external_attr >> 28 not in (0, 8):  # The Unix file type; 8 is a regular file.
            yield entry.filename, None
            continue
        with zipped.open(entry) as contents:
            yield entry.filename, contents


def _regular(name: str, contents: IO[bytes] | None, label: str) -> IO[bytes]:
    if contents is None:
        raise ModelDamaged(label, f"member {name!r} is a link or a device, which a model has no use for")
    return contents


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
