"""Versions of what is installed."""

from __future__ import annotations

from importlib.metadata import version

from edge_asr import __version__
from edge_asr.resources.packages import installed_versions


def test_what_is_not_installed_is_left_out() -> None:
    found = installed_versions(["numpy", "no-such-package-at-all"])
    assert list(found) == ["edge-asr", "python", "numpy"]
    assert (found["edge-asr"], found["numpy"]) == (__version__, version("numpy"))
