"""``transcribe --commands`` with real models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import edge_asr
from tests.cli.conftest import Run
from tests.support.fetched_models import fetched_model

CLIP = Path(edge_asr.__file__).parent / "clips" / "go-forward.flac"
GO = """
intents:
  Go: {data: [{sentences: ["go (forward|backward) {distance} meters"]}]}
lists:
  distance: {range: {from: 1, to: 20}}
"""
OTHER = "intents: {Open: {data: [{sentences: [open the garage door]}]}}"


def segments(run: Run, tmp_path: Path, model: str, templates: str) -> list[dict[str, Any]]:
    commands = tmp_path / "commands.yaml"
    commands.write_text(templates, encoding="utf-8")
    ran = run("transcribe", "-m", model, "--commands", commands, "--format", "json", CLIP)
    assert ran.status == 0, ran.err
    found: list[dict[str, Any]] = json.loads(ran.out)[0]["segments"]
    return found


@pytest.fixture(scope="module")
def moonshine() -> str:
    return str(fetched_model("moonshine-tiny-en").directory)


@pytest.mark.model
def test_the_bundled_model_hears_a_command_and_what_it_means(run, tmp_path):
    (segment,) = segments(run, tmp_path, "starter-en", GO)
    assert segment["text"] == "go forward ten meters"
    assert (segment["intent"], segment["slots"]) == ("Go", {"distance": 10})


@pytest.mark.model
def test_the_bundled_model_takes_nothing_else_for_one(run, tmp_path):
    assert segments(run, tmp_path, "starter-en", OTHER) == []


@pytest.mark.model
def test_what_a_transducer_writes_is_matched(run, tmp_path):
    (segment,) = segments(run, tmp_path, "starter-en-transducer", GO)
    assert segment["text"] == "go forward ten meters"
    assert (segment["intent"], segment["slots"]) == ("Go", {"distance": 10})
    assert segment["score"] > 0.5
    assert "ten meters" in segment["open_text"]


@pytest.mark.model
def test_what_a_transducer_writes_is_no_command_where_it_is_far_from_all(run, tmp_path):
    (segment,) = segments(run, tmp_path, "starter-en-transducer", OTHER)
    assert "intent" not in segment
    assert segment["text"] == segment["open_text"]


@pytest.mark.model
def test_moonshine_hears_a_command_beside_the_open_text(moonshine, run, tmp_path):
    (segment,) = segments(run, tmp_path, moonshine, GO)
    assert (segment["intent"], segment["slots"]) == ("Go", {"distance": 10})
    assert segment["score"] > 0.5
    assert "forward" in segment["open_text"].lower()


@pytest.mark.model
def test_moonshine_says_what_it_hears_where_that_is_no_command(moonshine, run, tmp_path):
    (segment,) = segments(run, tmp_path, moonshine, OTHER)
    assert "intent" not in segment
    assert segment["text"] == segment["open_text"]


def test_templates_that_cannot_be_used_are_an_error_of_the_configuration(run, tmp_path):
    (tmp_path / "empty.yaml").write_text("intents: {}", encoding="utf-8")
    ran = run("transcribe", "-m", "starter-en", "--commands", tmp_path / "empty.yaml", CLIP)
    assert ran.status == 2
    assert "there are no intents" in ran.err
