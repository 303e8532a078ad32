"""What is in a bundle, and that its installer refuses what it is not for."""

from __future__ import annotations

import platform
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from edge_asr.deployment.bundle import TOP, Contents, write_bundle
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.store.catalogue import bundled_directories, catalogue_directory
from edge_asr.store.store import InstalledModel
from tests.deployment.wheels import write_wheel


@pytest.fixture
def contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Contents:
    index, own = tmp_path / "index", tmp_path / "own"
    index.mkdir()
    own.mkdir()
    write_wheel(index, "pip", version="99")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    settings = tmp_path / "board.toml"
    settings.write_text("[engine]\nthreads = 2\n")
    directory = next(path for path in bundled_directories(catalogue_directory()) if path.name == "starter-en")
    model = InstalledModel(read_manifest(directory / MANIFEST_FILE), directory)
    return Contents(
        wheel=write_wheel(own, "edge-asr", version="1.2.3"),
        machine="aarch64",
        releases=["bookworm", "trixie"],
        models=[model],
        active="starter-en",
        settings_file=settings,
    )


def unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / TOP


def test_it_holds_wheels_models_and_configuration(contents: Contents, tmp_path: Path) -> None:
    write_bundle(tmp_path / "board.tar", contents)
    folder = unpack(tmp_path / "board.tar", tmp_path)
    wheels = {path.name.partition("-")[0] for path in (folder / "wheels").iterdir()}
    assert wheels == {"edge_asr", "pip"}
    assert (folder / "models/starter-en/manifest.toml").is_file()
    assert (folder / "edge-asr.toml").read_text() == "[engine]\nthreads = 2\n"
    words = {name: (folder / name).read_text() for name in ("machine", "pythons", "requirement", "active")}
    assert words == {
        "machine": "aarch64\n",
        "pythons": "3.11\n3.13\n",
        "requirement": "edge-asr==1.2.3\n",
        "active": "starter-en\n",
    }


def test_every_file_has_its_sum(contents: Contents, tmp_path: Path) -> None:
    write_bundle(tmp_path / "board.tar", contents)
    folder = unpack(tmp_path / "board.tar", tmp_path)
    summed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert summed == there - {"SHA256SUMS"}
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=folder, check=True)


@pytest.mark.parametrize("name", ["board.tar", "board.tar.gz"])
def test_the_same_content_makes_the_same_archive(contents: Contents, tmp_path: Path, name: str) -> None:
    archives = [tmp_path / folder / name for folder in ("once", "twice")]
    for archive in archives:
        archive.parent.mkdir()
        write_bundle(archive, contents)
    assert archives[0].read_bytes() == archives[1].read_bytes()


def unpacked_for_this_machine(contents: Contents, folder: Path) -> Path:
    write_bundle(folder / "board.tar", contents)
    bundle = unpack(folder / "board.tar", folder)
    (bundle / "machine").write_text(f"{platform.machine()}\n")
    return bundle


def install(bundle: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"}
    return subprocess.run([bundle / "install", *words], capture_output=True, text=True, env=environment)


def test_the_installer_refuses_another_machine(contents: Contents, tmp_path: Path) -> None:
    bundle = unpacked_for_this_machine(contents, tmp_path)
    (bundle / "machine").write_text("vax\n")
    ran = install(bundle, "--prefix", str(tmp_path / "prefix"))
    assert ran.returncode == 5
    assert ran.stderr == f"install: error: this bundle is for vax, and this is a {platform.machine()} system\n"


def test_the_installer_refuses_a_python_without_wheels(contents: Contents, tmp_path: Path) -> None:
    bundle = unpacked_for_this_machine(contents, tmp_path)
    (bundle / "pythons").write_text("2.7\n")
    ran = install(bundle, "--prefix", str(tmp_path / "prefix"))
    assert ran.returncode == 5
    assert ran.stderr.startswith("install: error: this bundle is for Python 2.7, and ")


def test_the_installer_refuses_a_damaged_bundle(contents: Contents, tmp_path: Path) -> None:
    bundle = unpacked_for_this_machine(contents, tmp_path)
    (bundle / "pythons").write_text(f"{sys.version_info.major}.{sys.version_info.minor}\n")
    ran = install(bundle, "--prefix", str(tmp_path / "prefix"))
    assert ran.returncode == 3
    assert ran.stderr.endswith("install: error: the bundle is damaged: copy it again\n")
    assert not (tmp_path / "prefix").exists()


def test_the_installer_knows_its_options(contents: Contents, tmp_path: Path) -> None:
    bundle = unpacked_for_this_machine(contents, tmp_path)
    assert "--prefix DIR" in install(bundle, "--help").stdout
    assert install(bundle, "--wrong").returncode == 2
