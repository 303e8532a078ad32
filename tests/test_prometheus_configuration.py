"""Prometheus's own tool on its configuration, and on what each alert fires on."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).resolve().parent.parent / "packaging" / "prometheus"

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="prometheus is not installed")


@needs_promtool
def test_the_configuration_is_valid(tmp_path: Path) -> None:
    for path in FOLDER.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "edge-asr.token").write_text("token")
    ran = subprocess.run(["promtool", "check", "config", tmp_path / "prometheus.yml"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@needs_promtool
def test_alerts_fire_on_what_they_are_for() -> None:
    ran = subprocess.run(
        ["promtool", "test", "rules", "edge-asr-rules-test.yml"], cwd=FOLDER, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_each_alert_is_seen_to_fire() -> None:
    (group,) = yaml.safe_load((FOLDER / "edge-asr-rules.yml").read_text())["groups"]
    tests = yaml.safe_load((FOLDER / "edge-asr-rules-test.yml").read_text())["tests"]
    fired = {case["alertname"] for test in tests for case in test["alert_rule_test"] if case.get("exp_alerts")}
    assert fired == {rule["alert"] for rule in group["rules"]}


def test_boards_are_listed_as_service_discovery_reads_them() -> None:
    for group in json.loads((FOLDER / "boards.json").read_text()):
        assert all(target.endswith(":8765") for target in group["targets"])
