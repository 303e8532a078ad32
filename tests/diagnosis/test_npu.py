"""NPUs on captured boards, in each state that a finding is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.diagnosis.examination import examine_npus
from edge_asr.diagnosis.npu import rknn_version_findings
from edge_asr.settings import EngineSettings
from tests.boards import raspberry_pi_5, rk3588, write_tree

DRIVER = {"sys/kernel/debug/rknpu/version": "RKNPU driver: v0.9.8"}


def runtime(version: str) -> dict[str, str]:
    return {"usr/lib/librknnrt.so": f"librknnrt version: {version} (429f97ae6b@2025-04-09)"}


def levels(settings: EngineSettings, root: Path) -> list[tuple[str, str]]:
    return [(finding.level, finding.code) for finding in examine_npus(settings, (), root)]


def test_a_board_without_an_npu_has_nothing_to_say(tmp_path: Path):
    assert levels(EngineSettings(), raspberry_pi_5(tmp_path)) == []


def test_an_npu_with_all_it_needs_is_well(tmp_path: Path):
    write_tree(rk3588(tmp_path), DRIVER | runtime("2.2.0"))
    assert levels(EngineSettings(), tmp_path) == [("ok", "npu"), ("ok", "npu_runtime")]


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        (EngineSettings(), "info"),
        (EngineSettings(provider="rknn", fallback="cpu"), "warning"),
        (EngineSettings(provider="rknn"), "error"),
    ],
)
def test_a_missing_runtime_is_as_bad_as_the_configuration_makes_it(settings, level, tmp_path: Path):
    write_tree(rk3588(tmp_path), DRIVER)
    (finding,) = examine_npus(settings, (), tmp_path)
    assert (finding.level, finding.code) == (level, "npu_incomplete")
    assert "librknnrt.so is missing" in finding.what
    assert finding.advice == "install librknnrt.so 2.2.0, the version known to work"


def test_a_configured_npu_that_is_not_here_lacks_everything(tmp_path: Path):
    raspberry_pi_5(tmp_path)
    assert levels(EngineSettings(provider="rknn"), tmp_path) == [("error", "npu_incomplete")] * 2


@pytest.mark.parametrize(("version", "level"), [("2.3.2", "warning"), ("2.4.0", "warning"), ("2.5.0", "info")])
def test_a_runtime_that_may_crash_is_named_with_its_driver(version, level):
    (finding,) = rknn_version_findings(version, "0.9.8", {})
    assert (finding.level, finding.what) == (level, f"librknnrt.so {version}, driver 0.9.8")


def test_a_model_newer_than_the_runtime_is_named():
    findings = list(rknn_version_findings("2.2.0", "", {"new": "2.10.0", "old": "2.2.0"}))
    assert [finding.code for finding in findings] == ["npu_runtime", "npu_model_newer"]
    assert findings[1].what == "model 'new' was compiled by rknn-toolkit2 2.10.0, the runtime is 2.2.0"
