"""``edge-asr config``."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from edge_asr.cli.configuration import KEYS, merge, toml_layer
from edge_asr.cli.settings_reference import default_document, field_docstrings
from edge_asr.settings import Settings


def test_show_prints_toml_that_gives_the_same_settings(run) -> None:
    shown = run("config", "show")

    assert shown.status == 0
    assert merge([toml_layer(shown.out, "shown")]).settings == Settings()


def test_show_says_who_set_a_value(run, monkeypatch) -> None:
    monkeypatch.setenv("EDGE_ASR_ENGINE_THREADS", "2")

    assert "threads = 2  # EDGE_ASR_ENGINE_THREADS\n" in run("config", "show", "--origin").out


def test_show_as_json(run, monkeypatch) -> None:
    monkeypatch.setenv("EDGE_ASR_WORKER_CPUS", "2,3")

    plain = json.loads(run("config", "show", "--json").out)
    with_origin = json.loads(run("config", "show", "--json", "--origin").out)

    assert plain["worker"]["cpus"] == [2, 3]
    assert with_origin["worker"]["cpus"] == {"value": [2, 3], "origin": "EDGE_ASR_WORKER_CPUS"}
    assert with_origin["model"] == {"value": "", "origin": "default"}


def test_show_names_the_token_s_file_and_not_the_token(run, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret")
    (tmp_path / "c.toml").write_text(f'[server]\ntoken_file = "{tmp_path}/token"')

    shown = run("config", "show", "--config", tmp_path / "c.toml").out

    assert f"{tmp_path}/token" in shown
    assert "s3cret" not in shown


def test_check_passes_a_right_file(run, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[engine]\nthreads = 2")

    checked = run("config", "check", tmp_path / "c.toml")

    assert (checked.status, checked.out) == (0, f"{tmp_path}/c.toml is right: 1 setting\n")


@pytest.mark.parametrize("document", ["[engine]\nthreads = 99", "[engine]\ntreads = 1", "[engine"])
def test_check_refuses_a_wrong_file(run, tmp_path: Path, document) -> None:
    (tmp_path / "c.toml").write_text(document)

    checked = run("config", "check", tmp_path / "c.toml")

    assert (checked.status, checked.out) == (2, "")
    assert len(checked.err.splitlines()) == 1


def test_check_without_a_file_looks_at_all_that_serve_would_read(run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "edge-asr" / "edge-asr.toml"
    file.parent.mkdir()
    file.write_text("[engine]\nthreads = 2")
    monkeypatch.setenv("EDGE_ASR_SERVER_DRAIN_S", "3")

    right = run("config", "check")
    monkeypatch.setenv("EDGE_ASR_SERVER_DRAIN_S", "-3")
    wrong = run("config", "check")

    assert right.status == 0
    assert set(right.out.strip().partition("from ")[2].split(", ")) == {str(file), "EDGE_ASR_SERVER_DRAIN_S"}
    assert (wrong.status, wrong.out) == (2, "")
    assert "server.drain_s = -3" in wrong.err


def test_a_model_that_is_not_here_is_named_and_leaves_a_file_for_another_machine_right(run, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('model = "nonesuch"\n[second_pass]\nmodel = "neither"')

    checked = run("config", "check", tmp_path / "c.toml")

    assert (checked.status, checked.out) == (0, f"{tmp_path}/c.toml is right: 2 settings\n")
    named = [line.partition(" is not installed")[0] for line in checked.err.splitlines()]
    assert named == [
        f"edge-asr: warning: {tmp_path}/c.toml: {key}: on this machine model {name!r}"
        for key, name in (("model", "nonesuch"), ("second_pass.model", "neither"))
    ]


def test_a_model_that_serve_would_not_find_is_no_right_configuration(run, monkeypatch) -> None:
    monkeypatch.setenv("EDGE_ASR_MODEL", "nonesuch")

    checked = run("config", "check")

    assert (checked.status, checked.out) == (4, "")
    assert "model 'nonesuch' is not installed" in checked.err


def test_init_writes_a_file_that_changes_nothing(run, tmp_path: Path) -> None:
    assert run("config", "init", "-o", tmp_path / "c.toml").status == 0

    assert merge([toml_layer((tmp_path / "c.toml").read_text(), "c")]).settings == Settings()


def test_init_keeps_a_file_that_is_there(run, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("precious")

    refused = run("config", "init", "-o", tmp_path / "c.toml")

    assert refused.status == 2
    assert (tmp_path / "c.toml").read_text() == "precious"


def test_the_written_file_names_every_setting_with_its_default() -> None:
    lines = default_document().splitlines()
    opened = "\n".join(
        line.removeprefix("# ") if line.removeprefix("# ").split(" = ")[0] in _names() else line for line in lines
    )

    document = tomllib.loads(opened)

    assert {f"{group}.{name}" for group, table in document.items() if isinstance(table, dict) for name in table} == {
        path for path, key in KEYS.items() if key.group
    }
    assert merge([toml_layer(opened, "opened")]).settings == Settings()


def test_settings_are_explained_by_the_words_below_them() -> None:
    documents = field_docstrings()

    assert documents["model"] == "Store name or directory; empty for the active model."
    assert set(documents) <= set(KEYS)
    assert {path.split(".")[0] for path in documents} > {"engine", "endpoint", "limits"}


def test_a_machine_without_configuration_has_a_right_one(run) -> None:
    checked = run("config", "check")
    assert (checked.status, checked.out) == (0, "the configuration is right: every setting has its default\n")


def _names() -> set[str]:
    return {key.name for key in KEYS.values()}
