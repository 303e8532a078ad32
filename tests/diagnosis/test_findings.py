"""Findings of what no captured tree can show: measured amounts, dates, and what became of a trial."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from edge_asr.diagnosis.date import clock_findings
from edge_asr.diagnosis.engine import engine_findings, model_load_findings, provider_findings
from edge_asr.diagnosis.memory import RESERVE_BYTES, model_memory_findings
from edge_asr.diagnosis.sound import library_findings
from edge_asr.diagnosis.storage import LITTLE_BYTES, NOTHING_BYTES, model_findings, space_findings
from edge_asr.engines.trial import death_of
from edge_asr.errors import ModelDamaged, ModelTooNew
from edge_asr.resources.wall_clock import WallClock

MIB = 1 << 20


def only(findings):
    (finding,) = findings
    return finding


def at(date: str, *, is_synchronised: bool | None = True) -> WallClock:
    return WallClock(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp(), is_synchronised)


def test_a_board_that_woke_up_in_the_past_is_found():
    finding = only(clock_findings(at("2023-12-31")))
    assert (finding.level, finding.code, finding.what) == ("warning", "clock_wrong", "the clock says 2023-12-31")


@pytest.mark.parametrize(
    ("is_synchronised", "code"), [(True, "clock"), (None, "clock"), (False, "clock_not_synchronised")]
)
def test_a_clock_that_nobody_keeps_is_worth_knowing(is_synchronised, code):
    assert only(clock_findings(at("2026-11-30", is_synchronised=is_synchronised))).code == code


@pytest.mark.parametrize(
    ("available_bytes", "level", "code"),
    [
        (100 * MIB - 1, "error", "not_enough_memory"),
        (100 * MIB, "warning", "memory_short"),
        (100 * MIB + RESERVE_BYTES, "ok", "memory"),
    ],
)
def test_a_model_needs_its_memory_and_a_reserve(available_bytes, level, code):
    finding = only(model_memory_findings("m", 100 * MIB, available_bytes))
    assert (finding.level, finding.code) == (level, code)
    assert "model 'm' needs about 100 MiB" in finding.what


@pytest.mark.parametrize(
    ("free_bytes", "level"),
    [(NOTHING_BYTES - 1, "error"), (NOTHING_BYTES, "warning"), (LITTLE_BYTES - 1, "warning"), (LITTLE_BYTES, "ok")],
)
def test_a_disk_may_be_short_or_full(free_bytes, level):
    assert only(space_findings(Path("/store"), free_bytes)).level == level


def test_an_illegal_instruction_stops_the_machine():
    finding = only(engine_findings(death_of("starter-en", "cpu", -4, "")))
    assert (finding.level, finding.code) == ("error", "engine_unusable")
    assert "this processor lacks instructions that the engine uses" in finding.what


def test_an_engine_that_decoded_is_well():
    assert only(engine_findings(None)).level == "ok"


def test_a_model_that_does_not_load_keeps_its_own_code():
    finding = only(model_load_findings("m", ModelTooNew("m", "it is written in ONNX operator set 27")))
    assert (finding.level, finding.code) == ("error", "model_too_new")


def test_a_model_that_loads_is_well():
    assert only(model_load_findings("m", None)).level == "ok"


def test_models_are_told_apart():
    examined = {"a": ModelDamaged("a", "x is missing"), "b": None}
    damaged, whole = model_findings(examined, served="a")
    assert (damaged.level, damaged.what) == ("error", "model 'a': x is missing")
    assert (whole.level, whole.what) == ("ok", "whole by their checksums and graphs: b")


def test_a_damaged_model_that_nobody_is_served_stops_nothing():
    assert only(model_findings({"a": ModelDamaged("a", "x is missing")}, served="b")).level == "warning"


def test_a_model_that_is_too_new_needs_a_newer_program():
    assert only(model_findings({"a": ModelTooNew("a", "opset 27")}, served="a")).advice == "install a newer edge-asr"


def test_providers_that_run_and_those_that_do_not_are_named_apart():
    running, missing = provider_findings({"cpu": "", "cuda": "no library", "rknn": "built without it"})
    assert running.what == "execution providers that run here: cpu"
    assert missing.what == "execution providers that do not run here: cuda, rknn"


def test_a_missing_sound_library_is_found_and_a_present_one_is_well():
    assert only(library_findings("PortAudio is not installed")).advice == "sudo apt install libportaudio2"
    assert only(library_findings("")).level == "ok"
