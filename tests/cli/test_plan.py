"""``edge-asr plan``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edge_asr.bench.document import Document, encode
from tests.bench.documents import disturbed, document
from tests.bench.measurements import at_live_pace
from tests.cli.conftest import Run

CALLS = ("--calls-per-hour", "60", "--mean-duration", "180")


def written(tmp_path: Path, bench: Document) -> Path:
    path = tmp_path / "bench.json"
    path.write_bytes(encode(bench))
    return path


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A board that carries ten streams."""
    return written(tmp_path, document(at_live_pace(10, [100.0] * 700), at_live_pace(12, [400.0] * 700)))


def test_a_plan_for_calls_is_shown_with_its_arithmetic(run: Run, bench: Path) -> None:
    ran = run("plan", "--bench", bench, *CALLS, "--peak-factor", "2", "--blocking", "2%")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("2 boards for 60 calls per hour (x 2 in the busiest) of 180 s, arrivals poisson\n")
    for text in ("6.00 erlangs", "Erlang B", "simulated", "Raspberry Pi 4", "CPU:", "NPU:", "GPU:", "Assumed"):
        assert text in ran.out


def test_a_plan_for_standing_streams(run: Run, bench: Path) -> None:
    ran = run("plan", "--bench", bench, "--streams", "25", "--spare-boards", "1")
    assert ran.out.startswith("5 boards for 25 streams always on\n")
    assert "blocking" not in ran.out


def test_json_carries_load_plan_and_capacity(run: Run, bench: Path) -> None:
    answer = json.loads(run("plan", "--bench", bench, *CALLS, "--json").out)
    assert answer["is_valid"] is True
    assert answer["load"]["mean_duration_s"] == 180
    assert answer["capacity"]["streams"] == 10
    assert answer["plan"]["calls"]["offered_erlangs"] == pytest.approx(3)
    assert answer["plan"]["boards"] == 1


def test_without_a_bench_it_says_how_to_make_one(run: Run) -> None:
    ran = run("plan", "--streams", "3")
    assert (ran.status, ran.out) == (2, "")
    assert "edge-asr bench MODEL --mode both --streams 1,2,4,8 --json bench.json" in ran.err


def test_a_bench_that_is_not_there_exits_3(run: Run, tmp_path: Path) -> None:
    assert run("plan", "--bench", tmp_path / "none.json", "--streams", "3").status == 3


def test_a_plan_on_invalid_measurements_is_shown_labelled_and_exits_6(run: Run, tmp_path: Path) -> None:
    bench = written(tmp_path, document(disturbed(at_live_pace(10, [100.0] * 700))))
    ran = run("plan", "--bench", bench, "--streams", "3")
    assert ran.status == 6
    assert "! the measurements are invalid: the board throttled" in ran.out
    assert json.loads(run("plan", "--bench", bench, "--streams", "3", "--json").out)["is_valid"] is False


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--streams", "3", *CALLS),
        ("--calls-per-hour", "60"),
        ("--mean-duration", "60"),
        (*CALLS, "--blocking", "0"),
        (*CALLS, "--blocking", "200%"),
        (*CALLS, "--blocking", "little"),
        ("--streams", "0"),
        ("--calls-per-hour", "1e8", "--mean-duration", "1e4"),
    ],
)
def test_words_that_make_no_load_exit_2(run: Run, bench: Path, words: tuple[str, ...]) -> None:
    assert run("plan", "--bench", bench, *words).status == 2
