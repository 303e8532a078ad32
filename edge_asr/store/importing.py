"""A model somebody has on disk becomes an installed one: its files are looked into, and a manifest is written."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import msgspec

from edge_asr.errors import ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.manifest import MANIFEST_FILE, ModelFile, ModelManifest, ModelSource, Precision, read_manifest
from edge_asr.store.archive import extract_all
from edge_asr.store.digest import check_file, sha256_of
from edge_asr.store.family_guess import guess_family
from edge_asr.store.inspect import inspect_model
from edge_asr.store.onnx_header import read_header

_ENDINGS = (".tar.bz2", ".tar.gz", ".tar.xz", ".tgz", ".tar", ".zip", ".whl")


UNKNOWN_LANGUAGE = "und"


def store_name(source: Path) -> str:
    """A store name for a directory or archive: what its manifest says, else from its own name."""
    if (source / MANIFEST_FILE).is_file():
        return read_manifest(source / MANIFEST_FILE).name
    file_name = source.resolve().name
    stem = next((file_name.removesuffix(ending) for ending in _ENDINGS if file_name.endswith(ending)), file_name)
    return re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("-.") or "imported"


def import_directory(source: Path, target: Path, name: str, languages: tuple[str, ...]) -> ModelManifest:
    """Copy the model's files from ``source`` to ``target`` and describe them.

    A directory with a manifest, such as ``edge-asr quantize`` writes, is taken as that says; in others the files tell.

    Args:
        source: What somebody has.
        target: Empty.
        name: In the store.
        languages: Tags; where there are none, the manifest's.

    Raises:
        ModelUnsupported: The files are of no family that is known.
        ModelDamaged: A file is damaged, does not fit the others, or is not what the manifest says.
    """
    if (source / MANIFEST_FILE).is_file():
        return _import_described(source, target, name, languages)
    family, roles = guess_family(source)
    files = {}
    for role, relative in roles.items():
        original = source / relative
        path = target / original.name
        if path.exists():  # Two folders may each hold a model.onnx.
            path = target / f"{role}-{original.name}"
        shutil.copyfile(original, path)
        files[role] = ModelFile(path=path.name, size_bytes=path.stat().st_size, sha256=sha256_of(path))
        _copy_weights(original, target)
    draft = _manifest(name, family, languages, files, chunk_ms=0, precision="fp32")
    report = inspect_model(target, draft)
    return _manifest(name, family, languages, files, chunk_ms=round(report.chunk_ms), precision=report.precision)


def _import_described(source: Path, target: Path, name: str, languages: tuple[str, ...]) -> ModelManifest:
    manifest = read_manifest(source / MANIFEST_FILE)
    files = {}
    for role, file in manifest.files.items():
        check_file(name, file, source / file.path)
        path = target / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / file.path, path)
        files[role] = msgspec.structs.replace(
            file, size_bytes=path.stat().st_size, sha256=sha256_of(path), member="", convert=""
        )
        _copy_weights(source / file.path, path.parent)
    imported = msgspec.structs.replace(
        manifest,
        name=name,
        languages=languages or manifest.languages,
        files=files,
        source=ModelSource(kind="local"),
    )
    inspect_model(target, imported)
    return imported


def _copy_weights(original: Path, target: Path) -> None:
    """Copy the files beside a graph that hold its weights; inspection says which of them are missing.

    Raises:
        ModelUnsupported: Another graph keeps its weights in another file of the same name.
    """
    if original.suffix != ".onnx":
        return
    for name in read_header(original).external_bytes:
        weights, copy = original.parent / name, target / name
        if Path(name).name != name or not weights.is_file():
            continue
        if copy.exists() and sha256_of(copy) != sha256_of(weights):
            raise ModelUnsupported(original.name, f"two of its graphs have a {name}; give the files different names")
        shutil.copyfile(weights, copy)


def import_archive(source: Path, target: Path, name: str, languages: tuple[str, ...]) -> ModelManifest:
    """Like :func:`import_directory`, from an archive; one top folder in it is looked through."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpacked-") as unpacked:
        folder = Path(unpacked)
        extract_all(source, folder, source.name)
        entries = list(folder.iterdir())
        inner = entries[0] if len(entries) == 1 and entries[0].is_dir() else folder
        return import_directory(inner, target, name, languages)


def _manifest(
    name: str,
    family: str,
    languages: tuple[str, ...],
    files: dict[str, ModelFile],
    *,
    chunk_ms: int,
    precision: Precision,
) -> ModelManifest:
    return ModelManifest(
        name=name,
        version="imported",
        family=family,
        languages=languages or (UNKNOWN_LANGUAGE,),
        sample_rate_hz=FAMILIES[family].sample_rate_hz,
        chunk_ms=chunk_ms,
        precision=precision,
        files=files,
        licence="LicenseRef-unknown",
        source=ModelSource(kind="local"),
        summary=f"Imported {family} model",
    )
