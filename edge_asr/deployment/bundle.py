"""A bundle: all that a board without a network needs, in one archive that is the same whenever its content is.

::

    edge-asr-bundle/
      install        the script to run on the board
      machine        aarch64
      pythons        Python versions that the wheels fit, one per line
      requirement    what pip installs: edge-asr[extras]==version
      wheels/        edge-asr, its dependencies, and pip itself
      models/NAME/   models with their manifests
      active         the model that becomes the active one, where there are models
      edge-asr.toml  the configuration, where there is one
      SHA256SUMS     of everything else
"""

from __future__ import annotations

import gzip
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edge_asr.deployment.target import Machine, Release, debian_target
from edge_asr.deployment.wheelhouse import fill_wheelhouse
from edge_asr.manifest import MANIFEST_FILE
from edge_asr.store.digest import sha256_of
from edge_asr.store.store import InstalledModel

TOP = "edge-asr-bundle"
"""The one folder that the archive unpacks to."""

SUMS = "SHA256SUMS"

_INSTALLER = Path(__file__).with_name("install.sh")


@dataclass(frozen=True, slots=True)
class Contents:
    """What goes into a bundle."""

    wheel: Path
    """edge-asr's own."""
    machine: Machine
    releases: Sequence[Release]
    models: Sequence[InstalledModel] = ()
    """Those that the package does not hold already."""
    active: str = ""
    """The model that becomes the active one; empty to leave that as it is on the board."""
    settings_file: Path | None = None
    extras: Sequence[str] = ()


def write_bundle(path: Path, contents: Contents) -> int:
    """Collect everything and write the archive; compressed where its name ends in ``.gz`` or ``.tgz``.

    Returns:
        Its size, bytes.

    Raises:
        FetchFailed: A wheel cannot be had.
        LibraryMissing: There is no pip.
    """
    with tempfile.TemporaryDirectory(prefix="edge-asr-bundle-", dir=path.absolute().parent) as work:
        folder = Path(work) / TOP
        fill_bundle(folder, contents)
        unfinished = Path(work) / "archive"
        _pack(folder, unfinished, is_compressed=path.suffix in (".gz", ".tgz"))
        unfinished.replace(path)
    return path.stat().st_size


def fill_bundle(folder: Path, contents: Contents) -> None:
    """The bundle as a folder.

    Raises:
        FetchFailed: A wheel cannot be had.
        LibraryMissing: There is no pip.
    """
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    targets = [debian_target(release, contents.machine) for release in contents.releases]
    for target in targets:
        # Of each target by itself: what one of them lacks must not be found among the wheels of the other.
        with tempfile.TemporaryDirectory(dir=folder) as own:
            fill_wheelhouse(Path(own), contents.wheel, target, contents.extras, also=["pip"])
            for wheel in Path(own).iterdir():
                wheel.replace(wheels / wheel.name)
    _write(folder / "machine", contents.machine)
    _write(folder / "pythons", "\n".join(target.python for target in targets))
    _write(folder / "requirement", _requirement(contents))
    for model in contents.models:
        _copy_model(model, folder / "models" / model.manifest.name)
    if contents.active:
        _write(folder / "active", contents.active)
    if contents.settings_file is not None:
        shutil.copyfile(contents.settings_file, folder / "edge-asr.toml")
    shutil.copyfile(_INSTALLER, folder / "install")
    (folder / "install").chmod(0o755)
    _write(folder / SUMS, "\n".join(_sums(folder)))


def _requirement(contents: Contents) -> str:
    version = contents.wheel.name.split("-")[1]
    extras = f"[{','.join(contents.extras)}]" if contents.extras else ""
    return f"edge-asr{extras}=={version}"


def _copy_model(model: InstalledModel, target: Path) -> None:
    """The manifest and all that lies beside it: weights of an ONNX file may lie outside of it."""
    shutil.copytree(model.directory, target)
    if not (target / MANIFEST_FILE).is_file():
        raise FileNotFoundError(target / MANIFEST_FILE)


def _write(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8")


def _sums(folder: Path) -> list[str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [f"{sha256_of(path)}  {path.relative_to(folder).as_posix()}" for path in files]


def _pack(folder: Path, archive: Path, *, is_compressed: bool) -> None:
    with archive.open("wb") as raw:
        # gzip writes down when and from what it was made, unless it is told not to.
        stream = gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) if is_compressed else raw
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in [folder, *sorted(folder.rglob("*"))]:
                name = path.relative_to(folder.parent).as_posix()
                tar.add(path, arcname=name, recursive=False, filter=_anonymous)
        if is_compressed:
            stream.close()


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without what differs from machine to machine and from day to day."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry
