"""``docs/bench.md`` and ``docs/self-test.md`` name every option and every gate, and none that does not exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import click
import msgspec
import pytest

from edge_asr.bench.figure_text import FIGURES
from edge_asr.bench.gate import DEFAULT_GATES, LONG_GATES, Gate
from edge_asr.cli.bench import bench
from edge_asr.cli.selftest import selftest
from edge_asr.cli.tune import tune

DOCS = Path(__file__).resolve().parents[2] / "docs"
BENCH, SELFTEST = ((DOCS / name).read_text(encoding="utf-8") for name in ("bench.md", "self-test.md"))
COMMON = {"--config", "--verbose", "--help"}


def options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts if name.startswith("--")} - COMMON


@pytest.mark.parametrize(
    ("command", "text"), [(bench, BENCH), (tune, BENCH), (selftest, SELFTEST)], ids=["bench", "tune", "selftest"]
)
def test_every_option_is_explained(command, text):
    assert {option for option in options(command) if option not in text} == set()


def test_no_option_is_explained_that_does_not_exist():
    known = (
        options(bench) | options(tune) | options(selftest) | {"--max-wer", "--origin", "--board-times"}
    )  # of other commands
    assert set(re.findall(r"--[a-z][a-z-]+", BENCH + SELFTEST)) <= known


def test_the_table_of_gates_is_that_of_the_code():
    rows = re.findall(r"^\| `([a-z_0-9]+)` \|", SELFTEST, flags=re.MULTILINE)
    assert rows == [gate.figure for gate in LONG_GATES]
    assert {gate.figure for gate in DEFAULT_GATES} == set(rows) - {"chunk_latency_p99", "memory_growth"}


def test_the_example_of_a_gate_file_is_one():
    (example,) = re.findall(r"```toml\n(.*?)```", SELFTEST, flags=re.DOTALL)
    gates = msgspec.convert(tomllib.loads(example)["gate"], tuple[Gate, ...])
    assert {gate.figure for gate in gates} <= set(FIGURES)
