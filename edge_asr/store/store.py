"""Models on disk: find, install, activate, roll back, remove.

Layout of a root::

    models/NAME/manifest.toml    and the files it names
    active.json                  {"active": NAME, "history": [NAME, …]}
    downloads/                   partial downloads, for resuming

Every change is atomic: a model appears whole under its name or not at all, and ``active.json`` is replaced as one file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import msgspec

from edge_asr.errors import ConfigurationError, ModelDamaged, ModelError, ModelNotFound, StoreBusy
from edge_asr.manifest import MANIFEST_FILE, ModelManifest, format_manifest, read_manifest
from edge_asr.store.catalogue import bundled_directories, catalogue_directory, read_catalogue
from edge_asr.store.locations import StoreLocations

DEFAULT_MODEL = "starter-en"
"""Bundled; what is used when nothing was activated."""

HISTORY = 10
"""Activations that can be rolled back."""


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model whose files are on disk."""

    manifest: ModelManifest
    directory: Path
    is_bundled: bool = False


class Activation(msgspec.Struct, frozen=True):
    """Contents of ``active.json``."""

    active: str = ""
    history: tuple[str, ...] = ()
    """Names that were active before, newest last."""


class ModelStore:
    """All places together.

    Args:
        locations: Where models are read and written.
        catalogue: Directory of the shipped manifests.
    """

    def __init__(self, locations: StoreLocations, catalogue: Path | None = None) -> None:
        self._locations = locations
        self._catalogue_directory = catalogue or catalogue_directory()

    # Finding.

    def catalogue(self) -> dict[str, ModelManifest]:
        """Models that can be fetched, by name."""
        return dict(read_catalogue(self._catalogue_directory))

    def installed(self) -> list[InstalledModel]:
        """Every installed model once, by name; a damaged manifest hides its own model only."""
        found: dict[str, InstalledModel] = {}
        for directory, is_bundled in self._directories():
            with contextlib.suppress(ModelDamaged):
                manifest = read_manifest(directory / MANIFEST_FILE)
                found.setdefault(manifest.name, InstalledModel(manifest, directory, is_bundled))
        return [found[name] for name in sorted(found)]

    def find(self, name: str) -> InstalledModel:
        """The installed model of that name.

        Raises:
            ModelNotFound: With how to get it, or which name was meant.
            ModelDamaged: Its manifest is wrong.
        """
        for directory, is_bundled in self._directories():
            if directory.name == name:
                return InstalledModel(read_manifest(directory / MANIFEST_FILE), directory, is_bundled)
        raise ModelNotFound(name, self._how_to_get(name))

    def resolve(self, name_or_directory: str) -> InstalledModel:
        """A store name, or the path of a directory with a manifest.

        Raises:
            ModelNotFound: Neither is there.
            ModelDamaged: The directory has no manifest, or a wrong one.
        """
        if not _looks_like_a_path(name_or_directory):
            return self.find(name_or_directory)
        directory = Path(name_or_directory).expanduser()
        if not directory.is_dir():
            raise ModelNotFound(name_or_directory, "there is no such directory")
        if not (directory / MANIFEST_FILE).is_file():
            raise ModelDamaged(
                name_or_directory, f"it has no {MANIFEST_FILE}; run `edge-asr models import {name_or_directory}`"
            )
        return InstalledModel(read_manifest(directory / MANIFEST_FILE), directory)

    def active(self) -> InstalledModel:
        """The model to use when none is named: the activated one, else the bundled default.

        Raises:
            ModelNotFound: The activated model is gone.
        """
        return self.find(self._activation().active or DEFAULT_MODEL)

    def installed_or_none(self, name: str) -> InstalledModel | None:
        """The installed model of that name, or ``None``."""
        try:
            return self.find(name)
        except ModelError:
            return None

    # Changing.

    @property
    def writable_root(self) -> Path:
        """Where new models go; raises ``StoreNotWritable``."""
        return self._locations.writable()

    def install(self, name: str, fill: Callable[[Path], ModelManifest]) -> InstalledModel:
        """Install a model atomically.

        Args:
            name: Store name.
            fill: Puts the files into the empty directory it is given and returns the manifest of what is there.

        Raises:
            StoreNotWritable: No place can be written.
            StoreBusy: Another command works on the same model.
        """
        models = self.writable_root / "models"
        models.mkdir(exist_ok=True)
        with _locked(models, name):
            staging = models / f".staging-{name}"
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            try:
                manifest = fill(staging)
                (staging / MANIFEST_FILE).write_text(format_manifest(manifest), encoding="utf-8")
                _replace_directory(staging, models / name)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
        return InstalledModel(manifest, models / name)

    def remove(self, name: str) -> None:
        """Remove an installed model.

        Raises:
            ModelNotFound: It is not installed.
            ConfigurationError: It is bundled, or active.
        """
        model = self.find(name)
        if model.is_bundled:
            raise ConfigurationError(f"model {name!r} is part of the package and cannot be removed")
        if self._activation().active == name:
            raise ConfigurationError(f"model {name!r} is active; activate another one first")
        with _locked(model.directory.parent, name):
            doomed = model.directory.with_name(f".old-{name}")
            shutil.rmtree(doomed, ignore_errors=True)
            model.directory.rename(doomed)
            shutil.rmtree(doomed)

    def activate(self, name: str) -> InstalledModel:
        """Make an installed model the one that is used when none is named."""
        model = self.find(name)
        before = self._activation()
        current = before.active or DEFAULT_MODEL
        if current != name:
            self._write_activation(Activation(name, (*before.history, current)[-HISTORY:]))
        return model

    def rollback(self) -> InstalledModel:
        """Go back to the model that was active before.

        Raises:
            ConfigurationError: Nothing was activated before.
        """
        before = self._activation()
        if not before.history:
            raise ConfigurationError("no model was active before, so there is nothing to roll back to")
        model = self.find(before.history[-1])
        self._write_activation(Activation(model.manifest.name, before.history[:-1]))
        return model

    # Inside.

    def _directories(self) -> Iterator[tuple[Path, bool]]:
        for root in self._locations.roots:
            for manifest in _readable(sorted_glob(root / "models", f"[!.]*/{MANIFEST_FILE}")):
                yield manifest.parent, False
        for directory in bundled_directories(self._catalogue_directory):
            yield directory, True

    def _how_to_get(self, name: str) -> str:
        catalogue = self.catalogue()
        if name in catalogue:
            return f"run `edge-asr models pull {name}`"
        known = sorted({*catalogue, *(model.manifest.name for model in self.installed())})
        close = get_close_matches(name, known, 1)
        return f"did you mean {close[0]!r}?" if close else "`edge-asr models list` shows what there is"

    def _activation(self) -> Activation:
        for root in self._locations.roots:
            try:
                return msgspec.json.decode((root / "active.json").read_bytes(), type=Activation)
            except (OSError, msgspec.DecodeError):
                continue
        return Activation()

    def _write_activation(self, activation: Activation) -> None:
        path = self.writable_root / "active.json"
        partial = path.with_suffix(".part")
        with partial.open("wb") as file:
            file.write(msgspec.json.encode(activation))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)


def sorted_glob(directory: Path, pattern: str) -> list[Path]:
    """Matches in order; none where the directory is missing or may not be read."""
    try:
        return sorted(directory.glob(pattern))
    except OSError:
        return []


def _readable(paths: Sequence[Path]) -> list[Path]:
    return [path for path in paths if os.access(path, os.R_OK)]


def _looks_like_a_path(text: str) -> bool:
    return "/" in text or text in (".", "..") or text.startswith("~")


def _replace_directory(new: Path, final: Path) -> None:
    """Put ``new`` in the place of ``final``; a crash in between leaves the old one beside it."""
    old = final.with_name(f".old-{final.name}")
    shutil.rmtree(old, ignore_errors=True)
    if final.exists():
        final.rename(old)
    new.rename(final)
    shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _locked(models: Path, name: str) -> Iterator[None]:
    try:
        file = (models / f".lock-{name}").open("w")
    except OSError as error:
        raise StoreBusy(name) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreBusy(name) from error
        old, final = models / f".old-{name}", models / name
        if old.exists() and not final.exists():  # a crash came between the two renames of an earlier command
            old.rename(final)
        yield
