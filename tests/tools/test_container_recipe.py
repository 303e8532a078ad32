from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tools.container_recipe import base_release, instructions

RECIPE = Path(__file__).resolve().parents[2] / "packaging/container/Containerfile"


def test_continued_lines_are_one_instruction_and_comments_none() -> None:
    assert list(instructions("# x\nFROM a\n\nRUN b \\\n && c\n")) == [("FROM", "a"), ("RUN", "b   && c")]


def test_the_recipe_ends_in_the_daemon_under_a_user_that_is_not_root() -> None:
    last = dict(instructions(RECIPE.read_text()))
    assert (last["ENTRYPOINT"], last["CMD"]) == ('["edge-asr"]', '["serve"]')
    assert last["USER"] not in ("0", "root")


def test_the_recipe_begins_with_a_release_that_bundles_are_made_for() -> None:
    (keyword, base), *_ = instructions(RECIPE.read_text())
    assert (keyword, base_release(base)) == ("FROM", "trixie")


@pytest.mark.skipif(not shutil.which("hadolint"), reason="hadolint is not installed")
def test_the_linter_finds_nothing() -> None:
    ran = subprocess.run(["hadolint", "--no-color", RECIPE], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_another_base_is_refused() -> None:
    with pytest.raises(ValueError, match="alpine"):
        base_release("alpine:3")
