from __future__ import annotations

import datetime as dt
import subprocess

import pytest

from edge_asr.deployment.target import debian_target
from tools.debian_package import debian_changelog, debian_version, target_makefile


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.1.0", "0.1.0"),
        ("0.2.0rc1", "0.2.0~rc1"),
        ("1.0a2", "1.0~a2"),
        ("0.2.0.dev7+g1a2b3c4", "0.2.0~dev7+g1a2b3c4"),
    ],
)
def test_what_comes_before_a_release_sorts_before_it(version: str, expected: str) -> None:
    assert debian_version(version) == expected
    if version != expected:
        released = expected.partition("~")[0]
        subprocess.run(["dpkg", "--compare-versions", expected, "lt", released], check=True)


def test_the_next_release_s_package_is_the_newer_one() -> None:
    time = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
    first = debian_changelog("0.1.0", "trixie", time)
    assert first.splitlines()[0] == "edge-asr (0.1.0-1~trixie1) trixie; urgency=medium"
    assert first.splitlines()[-1].endswith("  Mon, 30 Nov 2026 12:00:00 +0000")
    subprocess.run(["dpkg", "--compare-versions", "0.1.0-1~bookworm1", "lt", "0.1.0-1~trixie1"], check=True)


def test_it_depends_on_the_one_python_that_its_wheels_are_for() -> None:
    lines = target_makefile(debian_target("trixie", "aarch64")).splitlines()
    assert lines[:2] == ["PYTHON := 3.13", "NEXT_PYTHON := 3.14"]
    assert "--platform=manylinux_2_41_aarch64" in lines[2]
