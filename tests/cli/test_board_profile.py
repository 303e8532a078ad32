"""What ``tune`` found out, as the lowest layer of the configuration."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from edge_asr.cli.board_profile import (
    BoardProfile,
    ModelProfile,
    board_digest,
    find_profile,
    parse_profile,
    profile_layer,
    write_profile,
)
from edge_asr.cli.configuration import load, merge
from edge_asr.errors import ConfigurationError
from edge_asr.resources.board import read_board
from tests.boards.raspberry_pi import raspberry_pi_4, raspberry_pi_5
from tests.cli.conftest import Run

ENTRY = ModelProfile(
    tuned="2026-01-02T03:04:05+00:00",
    threads=2,
    cpus=(2, 3),
    allow_spinning=False,
    max_batch=8,
    streams=3,
    cpu_per_audio=0.12,
)


def written(root: Path, digest: str = "abc", model: str = "starter-en", entry: ModelProfile = ENTRY) -> Path:
    return write_profile(root, digest, model, entry, "evidence.json")


def read(path: Path) -> BoardProfile:
    return parse_profile(path.read_text(), str(path))


def test_what_was_written_is_read(tmp_path):
    assert read(written(tmp_path)) == BoardProfile(board="abc", models={"starter-en": ENTRY})


def test_the_file_says_what_it_is_and_where_its_evidence_stands(tmp_path):
    text = written(tmp_path).read_text()
    assert text.startswith("# Written by `edge-asr tune`")
    assert "evidence.json" in text


def test_a_provider_that_won_is_a_setting_and_none_is_left_out(tmp_path):
    assert "provider" not in written(tmp_path).read_text()
    assert "engine.provider" not in profile_layer(find_profile([tmp_path]), "starter-en", "abc").values
    written(tmp_path, entry=msgspec.structs.replace(ENTRY, provider="ort:XNNPACK"))
    assert profile_layer(find_profile([tmp_path]), "starter-en", "abc").values["engine.provider"] == "ort:XNNPACK"


def test_models_stand_beside_each_other(tmp_path):
    written(tmp_path)
    other = msgspec.structs.replace(ENTRY, threads=1, cpus=(), allow_spinning=True)
    assert read(written(tmp_path, model="zipformer-en.v2", entry=other)).models == {
        "starter-en": ENTRY,
        "zipformer-en.v2": other,
    }


def test_entries_of_another_board_are_dropped(tmp_path):
    written(tmp_path, digest="abc")
    assert read(written(tmp_path, digest="def", model="other")) == BoardProfile(board="def", models={"other": ENTRY})


def test_no_unfinished_file_stays_behind(tmp_path):
    written(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["board-profile.toml"]


def test_the_first_profile_of_the_roots_counts(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    second.mkdir()
    path = written(second)
    found = find_profile([first, second])
    assert found is not None
    assert found.path == path
    assert find_profile([first]) is None


@pytest.mark.parametrize("text", ["board = ", "threads = 1", 'board = "a"\n[models.x]\nthread = 1', "board = 7"])
def test_what_is_no_profile_is_refused(text):
    with pytest.raises(ConfigurationError, match="no board profile"):
        parse_profile(text, "/store/board-profile.toml")


def test_it_is_the_lowest_layer_and_named_as_the_origin(tmp_path):
    written(tmp_path)
    layer = profile_layer(find_profile([tmp_path]), "starter-en", "abc")
    merged = load({"EDGE_ASR_ENGINE_THREADS": "4", "HOME": str(tmp_path)}, tuned=lambda _model: layer)
    assert (merged.settings.engine.threads, merged.origins["engine.threads"]) == (4, "EDGE_ASR_ENGINE_THREADS")
    assert merged.settings.worker.cpus == (2, 3)
    assert merged.settings.scheduler.max_batch == 8
    assert (merged.settings.admission.streams, merged.settings.admission.cpu_per_audio) == (3, 0.12)
    assert merged.origins["worker.cpus"] == f"board profile {tmp_path / 'board-profile.toml'}"


@pytest.mark.parametrize(("model", "digest"), [("other", "abc"), ("starter-en", "def")])
def test_another_model_or_board_has_no_layer(tmp_path, model, digest):
    written(tmp_path)
    assert profile_layer(find_profile([tmp_path]), model, digest).values == {}


def test_no_profile_is_no_layer():
    assert merge([profile_layer(None, "starter-en", "abc")]).settings == merge([]).settings


def test_the_model_that_is_named_decides(tmp_path):
    asked: list[str] = []

    def tuned(model: str):
        asked.append(model)
        return profile_layer(None, model, "")

    load({"EDGE_ASR_MODEL": "a", "HOME": str(tmp_path)}, options={"model": ("-m", "b")}, tuned=tuned)
    assert asked == ["b"]


def test_a_board_keeps_its_digest_and_has_not_that_of_another(tmp_path):
    (tmp_path / "4").mkdir()
    (tmp_path / "5").mkdir()
    four = board_digest(read_board(raspberry_pi_4(tmp_path / "4")))
    assert four == board_digest(read_board(tmp_path / "4")) != board_digest(read_board(raspberry_pi_5(tmp_path / "5")))
    assert len(four) == 12


def test_commands_use_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "store"
    home.mkdir()
    monkeypatch.setenv("EDGE_ASR_HOME", str(home))
    write_profile(home, board_digest(read_board()), "starter-en", ENTRY, "evidence.json")
    shown = run("config", "show", "--origin").out
    line = next(line for line in shown.splitlines() if line.startswith("max_batch") or "max_batch = " in line)
    assert "8" in line
    assert "board profile" in line
