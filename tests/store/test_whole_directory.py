"""A directory that appears whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.store.whole_directory import put_in_place


def directory(path: Path, content: str) -> Path:
    (path / "below").mkdir(parents=True)
    (path / "below" / "file").write_text(content, encoding="utf-8")
    return path


def content_of(path: Path) -> str:
    return (path / "below" / "file").read_text(encoding="utf-8")


@pytest.mark.parametrize("was_there", [False, True])
def test_the_new_one_is_there_and_nothing_else_is_left(tmp_path: Path, was_there: bool) -> None:
    if was_there:
        directory(tmp_path / "model", "before")
    put_in_place(directory(tmp_path / ".new", "now"), tmp_path / "model", tmp_path / ".old")
    assert content_of(tmp_path / "model") == "now"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_an_interrupted_run_left_beside_it_is_no_obstacle(tmp_path: Path) -> None:
    directory(tmp_path / ".old", "long ago")
    directory(tmp_path / "model", "before")
    put_in_place(directory(tmp_path / ".new", "now"), tmp_path / "model", tmp_path / ".old")
    assert [content_of(tmp_path / "model"), not (tmp_path / ".old").exists()] == ["now", True]


def test_one_that_is_not_there_does_not_take_the_place(tmp_path: Path) -> None:
    directory(tmp_path / "model", "before")
    with pytest.raises(FileNotFoundError):
        put_in_place(tmp_path / "nothing", tmp_path / "model", tmp_path / ".old")
    assert content_of(tmp_path / "model") == "before"
