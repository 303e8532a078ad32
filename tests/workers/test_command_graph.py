"""Whose commands become a decoding graph, and that nothing is started for it where it cannot be made."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from edge_asr.cli.stores import open_store
from edge_asr.daemon import Daemon, Surroundings, serve
from edge_asr.errors import LibraryMissing
from edge_asr.settings import CommandSettings, EngineSettings, Settings
from edge_asr.store.store import InstalledModel
from edge_asr.workers.command_graph import require_command_graph_possible, takes_command_graph
from edge_asr.workers.served_model import ServedModel
from tests.commands.command_cases import LIGHTS


@pytest.fixture
def starter() -> InstalledModel:
    return open_store().resolve("starter-en")


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kaldifst", None)


@pytest.fixture
def commanded(tmp_path: Path) -> Settings:
    file = tmp_path / "lights.yaml"
    file.write_text(LIGHTS, encoding="utf-8")
    return replace(Settings(), commands=CommandSettings(str(file)))


def test_a_streaming_ctc_model_takes_one_where_sherpa_onnx_decodes(starter: InstalledModel) -> None:
    assert takes_command_graph(starter.manifest, EngineSettings())
    assert not takes_command_graph(starter.manifest, EngineSettings(provider="ort:CPUExecutionProvider"))


@pytest.mark.parametrize("family", ["moonshine", "zipformer2-transducer", "a-family-of-tomorrow"])
def test_others_take_none(starter: InstalledModel, family: str) -> None:
    assert not takes_command_graph(msgspec.structs.replace(starter.manifest, family=family), EngineSettings())


@pytest.mark.usefixtures("without_library")
def test_what_makes_graphs_is_missed_by_commands_only(starter: InstalledModel, commanded: Settings) -> None:
    require_command_graph_possible(ServedModel(starter.manifest, starter.directory, Settings()))
    with pytest.raises(LibraryMissing, match="kaldifst"):
        require_command_graph_possible(ServedModel(starter.manifest, starter.directory, commanded))


def test_nothing_is_missed_where_it_is_installed(starter: InstalledModel, commanded: Settings) -> None:
    require_command_graph_possible(ServedModel(starter.manifest, starter.directory, commanded))


@pytest.mark.usefixtures("without_library")
def test_a_daemon_opens_no_door_before_it_refuses(
    starter: InstalledModel, commanded: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Daemon] = []

    async def note(daemon: Daemon) -> None:
        opened.append(daemon)
        await asyncio.sleep(0)

    monkeypatch.setattr(Daemon, "run", note)
    surroundings = Surroundings(notify_socket="", watchdog_s=0.0, spool_directory=None)
    with pytest.raises(LibraryMissing):
        serve(commanded, open_store(), starter, surroundings, lambda _name: commanded)
    assert opened == []
