"""Running the command line as a process would, without one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from edge_asr.cli import configuration
from edge_asr.cli.main import main
from edge_asr.manifest import format_manifest
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import ModelStore


class Ran(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any configuration; the user's home."""
    monkeypatch.setattr(configuration, "SYSTEM_FILE", tmp_path / "etc" / "edge-asr.toml")
    ours = [name for name in os.environ if name.startswith("EDGE_ASR_")]
    for name in (*ours, "STATE_DIRECTORY", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def run(alone: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``edge-asr`` with these words; what it printed and its exit code."""

    def run_main(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Ran(int(left.value.code or 0), printed.out, printed.err)

    return run_main


@pytest.fixture
def two_tiers(tmp_path: Path) -> ModelStore:
    """A store with ``small``, which streams, and ``better``, which does not; nothing in it is ever loaded."""
    from tests.support import tiny_models  # which takes a second to import

    for name, family in (("small", "zipformer2-ctc"), ("better", "nemo-ctc")):
        directory = tmp_path / "models" / name
        manifest = tiny_models.tiny_manifest(family, tiny_models.write_nemo_ctc_offline(directory), name=name)
        (directory / "manifest.toml").write_text(format_manifest(manifest), encoding="utf-8")
    return ModelStore(StoreLocations((tmp_path,), tmp_path))
