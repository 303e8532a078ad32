"""The wheel holds what a machine without network needs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAX_WHEEL_BYTES = 12 << 20


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0 and "hatchling" in ran.stderr:
        pytest.skip("the build backend cannot be fetched here")
    assert ran.returncode == 0, ran.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def source_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "build", "--sdist", "--outdir", str(folder), str(ROOT)]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0 and "hatchling" in ran.stdout + ran.stderr:
        pytest.skip("the build backend cannot be fetched here")
    assert ran.returncode == 0, ran.stderr
    (built,) = folder.glob("*.tar.gz")
    return built


def test_the_source_archive_builds_the_same_wheel(wheel: Path, source_archive: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", f"--wheel-dir={tmp_path}"]
    subprocess.run([*command, str(source_archive)], check=True)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_bundled_model_the_catalogue_and_the_clips_are_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "edge_asr/_models/starter-en/manifest.toml",
        "edge_asr/_models/starter-en/model.int8.onnx",
        "edge_asr/_models/starter-en-transducer/encoder.int8.onnx",
        "edge_asr/_models/moonshine-tiny-en.toml",
        "edge_asr/_systemd/edge-asr.service",
        "edge_asr/_systemd/user/edge-asr.service",
        "edge_asr/clips/clips.tsv",
        "edge_asr/clips/go-forward.flac",
        "edge_asr/page/index.html",
        "edge_asr/page/main.js",
        "edge_asr/page/uplot.LICENSE.txt",
        "edge_asr/page/uplot.min.js",
        "edge_asr/py.typed",
    } <= names
    assert any(name.endswith("licenses/NOTICE") for name in names)


def test_nothing_for_developers_is_inside(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"edge_asr"}


def test_it_fits_on_a_small_card(wheel: Path) -> None:
    assert wheel.stat().st_size <= MAX_WHEEL_BYTES


def test_an_installed_wheel_finds_its_model_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    script = (
        "from edge_asr.store.locations import store_locations\n"
        "from edge_asr.store.store import ModelStore\n"
        "print(ModelStore(store_locations({})).active().directory)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": ""},
    )
    assert ran.stdout.strip() == str(tmp_path / "site" / "edge_asr" / "_models" / "starter-en"), ran.stderr
