from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from edge_asr.deployment.own_wheel import repack
from tests.deployment.wheels import write_wheel


def install(wheel: Path, site: Path) -> Distribution:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", f"--target={site}"]
    subprocess.run([*command, str(wheel)], check=True)
    (found,) = Distribution.discover(path=[str(site)])
    return found


@pytest.fixture
def installed(tmp_path: Path) -> Distribution:
    return install(write_wheel(tmp_path, "first", ["second"]), tmp_path / "site")


def folder(parent: Path, name: str) -> Path:
    made = parent / name
    made.mkdir()
    return made


def test_an_installation_becomes_the_wheel_it_came_from(installed: Distribution, tmp_path: Path) -> None:
    made = repack(installed, folder(tmp_path, "made"))
    assert made.name == "first-1.0-py3-none-any.whl"
    original = set(zipfile.ZipFile(tmp_path / made.name).namelist())
    assert set(zipfile.ZipFile(made).namelist()) == original


def test_it_can_be_installed_again(installed: Distribution, tmp_path: Path) -> None:
    again = install(repack(installed, folder(tmp_path, "made")), tmp_path / "again")
    assert (again.version, again.requires) == ("1.0", ["second"])
    assert (tmp_path / "again" / "first.py").read_text() == "NAME = 'first'\n"


def test_the_same_files_make_the_same_wheel(installed: Distribution, tmp_path: Path) -> None:
    once, twice = repack(installed, folder(tmp_path, "once")), repack(installed, folder(tmp_path, "twice"))
    assert once.read_bytes() == twice.read_bytes()
