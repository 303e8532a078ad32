"""Wheels for another machine, from an index that is a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.deployment.target import debian_target
from edge_asr.deployment.wheelhouse import fill_wheelhouse, missing_requirements, requirements_of
from edge_asr.errors import FetchFailed
from tests.deployment.wheels import write_wheel

BOOKWORM = debian_target("bookworm", "aarch64")
TRIXIE = debian_target("trixie", "aarch64")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only index that pip knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


def names(folder: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in folder.glob("*.whl")}


def test_dependencies_of_dependencies_go_along(index: Path, own: Path, tmp_path: Path) -> None:
    write_wheel(index, "middle", ["last>=1"])
    write_wheel(index, "last")
    fill_wheelhouse(tmp_path / "house", write_wheel(own, "first", ["middle"]), BOOKWORM)
    assert names(tmp_path / "house") == {"first", "middle", "last"}


def test_what_an_older_python_needs_is_found_whatever_python_collects(index: Path, own: Path, tmp_path: Path) -> None:
    write_wheel(index, "backport")
    write_wheel(index, "modern")
    first = write_wheel(own, "first", ["backport; python_version < '3.13'", "modern; python_version >= '3.13'"])
    fill_wheelhouse(tmp_path / "bookworm", first, BOOKWORM)
    fill_wheelhouse(tmp_path / "trixie", first, TRIXIE)
    assert "backport" in names(tmp_path / "bookworm")
    assert "modern" in names(tmp_path / "trixie")


def test_extras_are_taken_when_asked_for(index: Path, own: Path, tmp_path: Path) -> None:
    write_wheel(index, "broker")
    first = write_wheel(own, "first", ["broker; extra == 'mqtt'"], extras=["mqtt"])
    fill_wheelhouse(tmp_path / "plain", first, BOOKWORM)
    fill_wheelhouse(tmp_path / "with", first, BOOKWORM, extras=["mqtt"])
    assert (names(tmp_path / "plain"), names(tmp_path / "with")) == ({"first"}, {"first", "broker"})


def test_a_wheel_that_cannot_be_had_is_named(index: Path, own: Path, tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="absent"):
        fill_wheelhouse(tmp_path / "house", write_wheel(own, "first", ["absent"]), BOOKWORM)


def test_names_are_compared_as_the_index_does(tmp_path: Path) -> None:
    first, second = write_wheel(tmp_path, "first", ["Second.Part"]), write_wheel(tmp_path, "second-part")
    assert list(missing_requirements([first], BOOKWORM)) == ["Second.Part"]
    assert list(missing_requirements([first, second], BOOKWORM)) == []


def test_requirements_are_read_from_the_wheel(tmp_path: Path) -> None:
    assert requirements_of(write_wheel(tmp_path, "first", ["a>=1", "b"])) == ["a>=1", "b"]
