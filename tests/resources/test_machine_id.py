"""The machine's name for others."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from edge_asr.resources.machine_id import stable_name


def test_the_name_comes_from_the_machine_id_and_does_not_show_it(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    assert stable_name(tmp_path) == stable_name(tmp_path) == "81c23ec18e44"


def test_without_one_the_host_name_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "kitchen")
    kitchen = stable_name(tmp_path)
    monkeypatch.setattr(socket, "gethostname", lambda: "hall")
    assert kitchen != stable_name(tmp_path)
