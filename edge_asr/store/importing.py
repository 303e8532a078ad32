"""A model somebody has on disk becomes an installed one: its files are looked into, and a manifest is written."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelFile, ModelManifest, ModelSource, Precision
from edge_asr.store.archive import extract_all
from edge_asr.store.digest import sha256_of
from edge_asr.store.family_guess import guess_family
from edge_asr.store.inspect import inspect_model

_ENDINGS = (".tar.bz2", ".tar.gz", ".tar.xz", ".tgz", ".tar", ".zip", ".whl")


def store_name(file_name: str) -> str:
    """A store name from the name of a directory or archive."""
    stem = next((file_name.removesuffix(ending) for ending in _ENDINGS if file_name.endswith(ending)), file_name)
    return re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("-.") or "imported"


def import_directory(source: Path, target: Path, name: str, languages: tuple[str, ...]) -> ModelManifest:
    """Copy the model's files from ``source`` to ``target`` and describe them.

    Raises:
        ModelUnsupported: The files are of no family that is known.
        ModelDamaged: A file is damaged, or does not fit the others.
    """
    family, roles = guess_family(source)
    files = {}
    for role, relative in roles.items():
        flat = Path(relative).name
        shutil.copyfile(source / relative, target / flat)
        path = target / flat
        files[role] = ModelFile(path=flat, size_bytes=path.stat().st_size, sha256=sha256_of(path))
        for data in (source / relative).parent.glob(f"{flat}*.data"):  # weights kept outside the graph
            shutil.copyfile(data, target / data.name)
    draft = _manifest(name, family, languages, files, chunk_ms=0, precision="fp32")
    report = inspect_model(target, draft)
    return _manifest(name, family, languages, files, chunk_ms=round(report.chunk_ms), precision=report.precision)


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
        languages=languages,
        sample_rate_hz=FAMILIES[family].sample_rate_hz,
        chunk_ms=chunk_ms,
        precision=precision,
        files=files,
        licence="LicenseRef-unknown",
        source=ModelSource(kind="local"),
        summary=f"Imported {family} model",
    )
