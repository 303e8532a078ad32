"""SHA-256 of files, and the check of an installed model against its manifest."""

from __future__ import annotations

import hashlib
from pathlib import Path

from edge_asr.errors import ModelDamaged
from edge_asr.manifest import ModelFile, ModelManifest


def sha256_of(path: Path) -> str:
    """Lower-case hexadecimal digest of a file's contents."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(model: str, file: ModelFile, path: Path, next_step: str = "fetch it again") -> None:
    """Compare a file with what the manifest says; what it does not say is not checked.

    Raises:
        ModelDamaged: The file is missing, or its size or digest is another.
    """
    if not path.is_file():
        raise ModelDamaged(model, f"{file.path} is missing; {next_step}")
    size = path.stat().st_size
    if file.size_bytes and size != file.size_bytes:
        raise ModelDamaged(model, f"{file.path} has {size} bytes instead of {file.size_bytes}; {next_step}")
    if file.sha256 and sha256_of(path) != file.sha256:
        raise ModelDamaged(model, f"the contents of {file.path} are not those of the manifest (sha256); {next_step}")


def check_files(manifest: ModelManifest, directory: Path) -> None:
    """Check every file of an installed model.

    Raises:
        ModelDamaged: At the first file that is wrong.
    """
    for file in manifest.files.values():
        check_file(manifest.name, file, directory / file.path, next_step(manifest))


def next_step(manifest: ModelManifest) -> str:
    """What to do about a damaged model, by where it came from."""
    if manifest.source.kind == "bundled":
        return "install edge-asr anew"
    if manifest.source.kind == "local":
        return "import it again from where it came"
    return f"run `edge-asr models pull {manifest.name}`"
