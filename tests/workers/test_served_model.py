from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.settings import CommandSettings, EngineSettings, GateSettings, LimitSettings, ServerSettings, Settings
from tests.workers import scripted


def test_settings_of_the_doors_make_no_difference_to_a_worker(tmp_path):
    other = Settings(server=ServerSettings(port=1), limits=LimitSettings(max_sessions=1))
    assert scripted.model(tmp_path).is_like(scripted.model(tmp_path, other))


@pytest.mark.parametrize(
    "other", [Settings(engine=EngineSettings(threads=2)), Settings(gate=GateSettings(enabled=False))]
)
def test_settings_of_the_worker_do(tmp_path, other):
    assert not scripted.model(tmp_path).is_like(scripted.model(tmp_path, other))


def test_so_do_other_files_under_the_same_name(tmp_path):
    model = scripted.model(tmp_path)
    newer = replace(model, manifest=scripted.model(tmp_path, name="newer").manifest)
    assert not model.is_like(newer)


def test_the_sentences_of_spoken_commands_are_read_once_and_compared(tmp_path):
    settings = Settings(commands=CommandSettings(file=str(tmp_path / "commands.yaml")))
    with pytest.raises(ConfigurationError, match=r"commands\.yaml"):
        scripted.model(tmp_path, settings)
    sentences = Path(settings.commands.file)
    sentences.write_text("intents: {}")
    before = scripted.model(tmp_path, settings)
    assert before.is_like(scripted.model(tmp_path, settings))
    sentences.write_text("intents: {Turn: {}}")
    assert not before.is_like(scripted.model(tmp_path, settings))
    assert list(before.configure.commands.values()) == ["intents: {}"]


def test_a_model_beside_the_active_one_has_neither_its_graph_nor_its_commands(tmp_path):
    (tmp_path / "commands.yaml").write_text("intents: {}")
    settings = Settings(
        engine=EngineSettings(graph="/g.fst", threads=2), commands=CommandSettings(file=str(tmp_path / "commands.yaml"))
    )
    other = scripted.model(tmp_path, settings).beside_the_active_one()
    assert (other.settings.engine, other.configure.commands) == (EngineSettings(threads=2), {})


def test_the_list_of_hotwords_is_read_once_and_compared(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("kitchen")
    settings = Settings(engine=EngineSettings(hotwords_file=str(names)))
    before = scripted.model(tmp_path, settings)
    names.write_text("hall")
    assert before.configure.hotwords == {str(names): "kitchen"}
    assert not before.is_like(scripted.model(tmp_path, settings))
    assert before.beside_the_active_one().configure.hotwords == {}
