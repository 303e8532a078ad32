"""The manifests that are shipped."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath

import pytest

from edge_asr.families import FAMILIES
from edge_asr.manifest import format_manifest, parse_manifest, read_manifest
from edge_asr.store.catalogue import bundled_directories, catalogue_directory, read_catalogue
from edge_asr.store.digest import check_files
from edge_asr.store.inspect import inspect_model

CATALOGUE = read_catalogue(catalogue_directory())
PUBLISHED = [manifest for manifest in CATALOGUE.values() if manifest.source.kind == "url"]
ARCHIVED = [manifest for manifest in PUBLISHED if manifest.source.url.endswith(".tar.bz2")]
BARE = [manifest for manifest in PUBLISHED if manifest not in ARCHIVED]


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_manifest_names_what_its_family_needs(name: str) -> None:
    manifest = CATALOGUE[name]
    family = FAMILIES[manifest.family]
    assert set(family.roles) <= set(manifest.files) <= {*family.roles, *family.optional_roles}
    assert manifest.sample_rate_hz == family.sample_rate_hz
    assert (manifest.chunk_ms > 0) == (family.kind in ("streaming", "vad"))
    assert manifest.languages or family.kind == "vad"
    assert manifest.licence
    assert manifest.summary.endswith(" MB")


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_file_of_a_manifest_has_its_name_and_survives_rewriting(name: str) -> None:
    path = catalogue_directory() / f"{name}.toml"
    assert tomllib.loads(path.read_text(encoding="utf-8"))["name"] == name
    assert parse_manifest(format_manifest(CATALOGUE[name]), "again") == CATALOGUE[name]


@pytest.mark.parametrize("manifest", BARE, ids=lambda manifest: manifest.name)
def test_a_model_of_one_file_is_published_as_that_file(manifest) -> None:
    assert [file.path for file in manifest.files.values()] == [PurePosixPath(manifest.source.url).name]
    assert FAMILIES[manifest.family].kind == "speaker"


@pytest.mark.parametrize("manifest", PUBLISHED, ids=lambda manifest: manifest.name)
def test_digests_are_published_beside_the_model(manifest) -> None:
    assert PurePosixPath(manifest.source.digests_url).parent == PurePosixPath(manifest.source.url).parent


@pytest.mark.parametrize("manifest", ARCHIVED, ids=lambda manifest: manifest.name)
def test_members_of_a_published_archive_lie_in_its_top_folder(manifest) -> None:
    archive = PurePosixPath(manifest.source.url).name
    assert {PurePosixPath(file.member).parts[0] for file in manifest.files.values()} == {
        archive.removesuffix(".tar.bz2")
    }
    assert all(PurePosixPath(file.member).name == file.path for file in manifest.files.values())


@pytest.mark.parametrize("manifest", PUBLISHED, ids=lambda manifest: manifest.name)
def test_transducers_have_8_bits_but_in_the_decoder(manifest) -> None:
    small = {role for role, file in manifest.files.items() if ".int8." in file.path}
    if "joiner" in manifest.files:
        assert small == {"encoder", "joiner"}
    assert bool(small) == (manifest.precision == "int8")


def test_models_from_wheels_have_the_digest_of_every_file() -> None:
    wheels = [manifest for manifest in CATALOGUE.values() if manifest.source.kind == "pypi"]
    assert sorted(manifest.name for manifest in wheels) == ["moonshine-tiny-en", "silero-vad"]
    assert all(file.sha256 and file.size_bytes for manifest in wheels for file in manifest.files.values())
    assert all("==" in manifest.source.requirement for manifest in wheels)


@pytest.mark.parametrize("directory", bundled_directories(catalogue_directory()), ids=lambda path: path.name)
def test_a_bundled_model_is_what_its_manifest_says(directory: Path) -> None:
    manifest = read_manifest(directory / "manifest.toml")
    check_files(manifest, directory)
    report = inspect_model(directory, manifest)
    assert (manifest.name, report.family, report.chunk_ms) == (directory.name, manifest.family, manifest.chunk_ms)
    assert report.precision == manifest.precision


def test_a_checkout_bundles_the_starter_model_its_original_and_its_twin() -> None:
    names = [directory.name for directory in bundled_directories(catalogue_directory())]
    assert sorted(names) == ["starter-en", "starter-en-fp32", "starter-en-transducer"]
