from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.arm64_programs import CannotEmulate, ensure_program


def executable(path: Path) -> str:
    path.touch(mode=0o755)
    return str(path)


def test_the_first_of_the_names_that_is_here_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    second = executable(tmp_path / "second")
    executable(tmp_path / "third")
    assert ensure_program(["first", "second", "third"], "package") == second


def test_whoever_is_not_root_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(CannotEmulate, match=r"^no qemu here; run: sudo apt install qemu-user$"):
        ensure_program(["qemu"], "qemu-user")


def test_a_package_that_apt_cannot_install_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "apt-get").write_text("#!/bin/sh\nexit 100\n")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path), "/bin")))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(CannotEmulate, match=r"`apt-get update -qq` failed; it is needed for no-such-program"):
        ensure_program(["no-such-program"], "package")
