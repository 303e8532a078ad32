"""Models on disk: find, install, activate, roll back, remove.

Layout of a root::

    models/NAME/manifest.toml    and the files it names
    active.json                  {"active": NAME, "history": [NAME, …]}
    speakers/NAME.json           voices: see :mod:`edge_asr.store.speakers`
    downloads/                   partial downloads, for resuming

Every change is atomic, also when the power fails: a model appears whole under its name or not at all, and
``active.json`` is replaced as one file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import msgspec

from edge_asr.errors import (
    ConfigurationError,
    ModelDamaged,
    ModelError,
    ModelNotFound,
    ModelUnsupported,
    StoreBusy,
    StoreNotWritable,
)
from edge_asr.families import FAMILIES, FamilyKind
from edge_asr.manifest import MANIFEST_FILE, ModelManifest, format_manifest, read_manifest
from edge_asr.store.catalogue import bundled_directories, catalogue_directory, read_catalogue
from edge_asr.store.disk import writing_to
from edge_asr.store.locations import StoreLocations
from edge_asr.store.speakers import SpeakerShelf
from edge_asr.store.whole_directory import put_in_place

DEFAULT_MODEL = "starter-en"
"""Bundled; what is used when nothing was activated."""

HISTORY = 10
"""Activations that can be rolled back."""

_MISTYPED = 0.8
"""Likeness, as :mod:`difflib` reckons it, from which a name is taken for another with a slip in it."""

_ACTIVATION_FILE = "active.json"
_REPLACED = ".old-"
"""Prefix of a model's directory while another takes its place; it is read as long as that one is not there."""


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
        for name, directory, is_bundled in self._directories():
            with contextlib.suppress(ModelDamaged):
                found.setdefault(name, InstalledModel(read_manifest(directory / MANIFEST_FILE), directory, is_bundled))
        return [found[name] for name in sorted(found)]

    def damaged(self) -> dict[str, ModelDamaged]:
        """What is wrong with the manifests that :meth:`installed` leaves out, by the model's name."""
        wrong: dict[str, ModelDamaged] = {}
        for name, directory, _ in self._directories():
            try:
                read_manifest(directory / MANIFEST_FILE)
            except ModelDamaged as error:
                wrong.setdefault(name, error)
        return wrong

    def find(self, name: str) -> InstalledModel:
        """The installed model of that name.

        Raises:
            ModelNotFound: With how to get it, or which name was meant.
            ModelDamaged: Its manifest is wrong.
        """
        for found, directory, is_bundled in self._directories():
            if found == name:
                return InstalledModel(read_manifest(directory / MANIFEST_FILE), directory, is_bundled)
        raise ModelNotFound(name, self._how_to_get(name))

    def of_kind(self, kind: FamilyKind) -> InstalledModel | None:
        """The first installed model of that kind, for what stands beside recognition."""
        kinds = ((model, FAMILIES.get(model.manifest.family)) for model in self.installed())
        return next((model for model, family in kinds if family is not None and family.kind == kind), None)

    def resolve(self, name_or_directory: str) -> InstalledModel:
        """A store name, or the path of a directory with a manifest.

        Raises:
            ModelNotFound: Neither is there.
            ModelDamaged: The directory has no manifest, or a wrong one.
        """
        if not _looks_like_a_path(name_or_directory):
            return self._find_or_hint(name_or_directory)
        directory = Path(name_or_directory).expanduser()
        if not directory.is_dir():
            raise ModelNotFound(name_or_directory, "there is no such directory")
        if not (directory / MANIFEST_FILE).is_file():
            raise ModelDamaged(
                name_or_directory, f"it has no {MANIFEST_FILE}; run `edge-asr models import {name_or_directory}`"
            )
        return InstalledModel(read_manifest(directory / MANIFEST_FILE), directory)

    def _find_or_hint(self, name: str) -> InstalledModel:
        try:
            return self.find(name)
        except ModelNotFound as error:
            if Path(name).is_dir():
                raise ModelNotFound(name, f"for the directory of that name write ./{name}") from error
            raise

    def active(self) -> InstalledModel:
        """The model to use when none is named: the activated one, else the bundled default.

        Raises:
            ModelNotFound: The activated model is gone.
            ConfigurationError: What was activated cannot be read.
        """
        return self.find(self._activation().active or DEFAULT_MODEL)

    def installed_or_none(self, name: str) -> InstalledModel | None:
        """The installed model of that name, or ``None``."""
        try:
            return self.find(name)
        except ModelError:
            return None

    @property
    def speakers(self) -> SpeakerShelf:
        """The voices that were enrolled."""
        return SpeakerShelf(self._locations)

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
        with _locked(models, name), writing_to(models, is_store=True):
            staging = models / f".staging-{name}"
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            try:
                manifest = fill(staging)
                (staging / MANIFEST_FILE).write_text(format_manifest(manifest), encoding="utf-8")
                # Until it is there, the one before is read from beside its place.
                put_in_place(staging, models / name, old=models / f"{_REPLACED}{name}")
            finally:
                shutil.rmtree(staging, ignore_errors=True)
        return InstalledModel(manifest, models / name)

    def remove(self, name: str) -> None:
        """Remove an installed model.

        Raises:
            ModelNotFound: It is not installed.
            ConfigurationError: It is bundled, or active.
            StoreNotWritable: It lies where this user may not write.
        """
        directory = self._directory_to_remove(name)
        with _locked(directory.parent, name):
            doomed = directory.with_name(f".removed-{name}")
            shutil.rmtree(doomed, ignore_errors=True)
            directory.rename(doomed)
            shutil.rmtree(doomed)

    def activate(self, name: str, in_place_of: str = "") -> InstalledModel:
        """Make an installed model the one that is used when none is named.

        Args:
            name: Of the model.
            in_place_of: What was in use, where that was named by somebody; empty for what was active.

        Raises:
            ModelNotFound: It is not installed.
            ModelUnsupported: It recognises no speech.
            StoreNotWritable: No place can be written.
        """
        model = self.find(name)
        family = FAMILIES.get(model.manifest.family)
        if family is not None and not family.recognises_speech:
            raise ModelUnsupported(name, "it does not recognise speech, so it cannot be the active model")
        try:
            before = self._activation()
        except ConfigurationError:  # Written anew here.
            before = Activation()
        current = in_place_of or before.active or DEFAULT_MODEL
        if current != name:
            self._write_activation(Activation(name, (*before.history, current)[-HISTORY:]))
        return model

    def previous(self) -> InstalledModel:
        """The model that was active before.

        Raises:
            ConfigurationError: Nothing was activated before.
            ModelNotFound: That model is gone.
        """
        before = self._activation()
        if not before.history:
            raise ConfigurationError("no model was active before, so there is nothing to roll back to")
        return self.find(before.history[-1])

    def rollback(self) -> InstalledModel:
        """Go back to the model that was active before.

        Raises:
            ConfigurationError: Nothing was activated before.
            ModelNotFound: That model is gone.
        """
        model, before = self.previous(), self._activation()
        self._write_activation(Activation(before.history[-1], before.history[:-1]))
        return model

    # Inside.

    def _directories(self) -> Iterator[tuple[str, Path, bool]]:
        """Name, directory, and whether it is bundled."""
        for root in self._locations.roots:
            for directory in _model_directories(root / "models"):
                yield directory.name.removeprefix(_REPLACED), directory, False
        for directory in bundled_directories(self._catalogue_directory):
            yield directory.name, directory, True

    def _directory_to_remove(self, name: str) -> Path:
        """Where it is, also when its manifest is wrong."""
        found = next((entry for entry in self._directories() if entry[0] == name), None)
        if found is None:
            raise ModelNotFound(name, self._how_to_get(name))
        _, directory, is_bundled = found
        if is_bundled:
            raise ConfigurationError(f"model {name!r} is part of the package and cannot be removed")
        if self._activation().active == name:
            raise ConfigurationError(f"model {name!r} is active; activate another one first")
        return directory

    def _how_to_get(self, name: str) -> str:
        catalogue = self.catalogue()
        if name in catalogue:
            return f"run `edge-asr models pull {name}`"
        close = likely_meant(name, {*catalogue, *(model.manifest.name for model in self.installed())})
        if close:
            return f"did you mean {close!r}?"
        return "`edge-asr models list` shows what there is, and `edge-asr models import` takes any other"

    def _activation(self) -> Activation:
        # What this user can write comes first: else activating would do nothing where the system's store has its own.
        roots = sorted(self._locations.roots, key=lambda root: not os.access(root, os.W_OK | os.X_OK))
        for root in roots:
            path = root / _ACTIVATION_FILE
            try:
                return msgspec.json.decode(path.read_bytes(), type=Activation)
            except OSError:
                continue
            except msgspec.DecodeError as error:
                raise ConfigurationError(
                    f"{path} does not say which model is active ({error}); run `edge-asr models activate MODEL`"
                ) from error
        return Activation()

    def _write_activation(self, activation: Activation) -> None:
        root = self.writable_root
        with (
            writing_to(root, is_store=True),
            tempfile.NamedTemporaryFile(dir=root, prefix=f".{_ACTIVATION_FILE}-", delete=False) as partial,
        ):
            partial.write(msgspec.json.encode(activation))
            Path(partial.name).chmod(0o644)
            partial.flush()
            os.fsync(partial.fileno())
            Path(partial.name).replace(root / _ACTIVATION_FILE)


def _model_directories(models: Path) -> list[Path]:
    """Directories with a manifest, and those whose replacement has not arrived; none where nothing may be read."""
    try:
        found = sorted(path.parent for path in models.glob(f"*/{MANIFEST_FILE}") if os.access(path, os.R_OK))
    except OSError:
        return []
    names = {directory.name for directory in found}
    return [
        directory for directory in found if not directory.name.startswith(".") or _is_left_alone(directory.name, names)
    ]


def likely_meant(name: str, known: Collection[str]) -> str | None:
    """The known name that this is the beginning of, or mistyped; one that goes on after it is a model of its own."""
    close = get_close_matches(name, sorted(known), 1, cutoff=_MISTYPED)
    begun = [longer for longer in sorted(known) if longer.startswith(name)]
    return next(iter([*close, *begun]), None)


def _is_left_alone(name: str, names: set[str]) -> bool:
    return name.startswith(_REPLACED) and name.removeprefix(_REPLACED) not in names


def _looks_like_a_path(text: str) -> bool:
    return "/" in text or text in (".", "..") or text.startswith("~")


@contextlib.contextmanager
def _locked(models: Path, name: str) -> Iterator[None]:
    try:
        file = (models / f".lock-{name}").open("w")
    except OSError as error:
        raise StoreNotWritable([models]) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreBusy(name) from error
        yield
