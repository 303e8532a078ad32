"""``edge-asr bench compare``."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from edge_asr.bench.document import Document, encode
from tests.bench.documents import disturbed
from tests.bench.measurements import bench_of, listening, repeated
from tests.cli.conftest import Ran, Run


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which nothing wraps."""
    monkeypatch.setenv("COLUMNS", "200")


def compared(run: Run, tmp_path: Path, before: Document, after: Document, *words: str) -> Ran:
    for name, bench in (("a", before), ("b", after)):
        (tmp_path / f"{name}.json").write_bytes(encode(bench))
    return run("bench", "compare", tmp_path / "a.json", tmp_path / "b.json", *words)


def test_no_difference_leaves_with_0(run: Run, tmp_path: Path) -> None:
    ran = compared(run, tmp_path, bench_of(repeated(0.1)), bench_of(repeated(0.1)))
    assert (ran.status, ran.err) == (0, "")
    assert "Real-time factor, wall time" in ran.out
    assert "no difference found" in ran.out


def test_a_regression_is_named_and_leaves_with_6(run: Run, tmp_path: Path) -> None:
    ran = compared(run, tmp_path, bench_of(repeated(0.1)), bench_of(repeated(0.2, threads=2)))
    assert ran.status == 6
    assert "starter-en · throughput · 1 thread  →  starter-en · throughput · 2 threads" in ran.out
    assert "+100" in ran.out or "+99" in ran.out
    assert "worse: rtf_wall of starter-en · throughput · 2 threads" in ran.err


def test_a_gain_leaves_with_0(run: Run, tmp_path: Path) -> None:
    ran = compared(run, tmp_path, bench_of(repeated(0.2)), bench_of(repeated(0.1)))
    assert ran.status == 0
    assert "better" in ran.out


def test_error_rates_change_by_points(run: Run, tmp_path: Path) -> None:
    ran = compared(run, tmp_path, bench_of(repeated(0.1)), bench_of(repeated(0.1, errors=3)))
    assert "+20 (+20 to +20) points" in ran.out


def test_disturbed_runs_are_labelled_and_leave_with_6(run: Run, tmp_path: Path) -> None:
    two = repeated(0.2)
    few = msgspec.structs.replace(two, runs=two.runs[:3])
    ran = compared(run, tmp_path, bench_of(repeated(0.1)), bench_of(disturbed(few)))
    assert ran.status == 6
    assert "INVALID, no verdict" in ran.out
    assert "worse" not in ran.out + ran.err


def test_differences_of_the_benches_stand_first(run: Run, tmp_path: Path) -> None:
    ran = compared(run, tmp_path, bench_of(repeated(0.1)), bench_of(repeated(0.1), board={"model": "Raspberry Pi 5"}))
    assert ran.out.startswith("! different board: Raspberry Pi 4 Model B Rev 1.4 and Raspberry Pi 5\n")


def test_json_carries_every_figure_and_the_verdict(run: Run, tmp_path: Path) -> None:
    ran = compared(run, tmp_path, bench_of(repeated(0.1)), bench_of(repeated(0.2)), "--json")
    answer = json.loads(ran.out)
    assert (answer["is_valid"], answer["has_regression"]) == (True, True)
    assert answer["changes"][0]["figures"][0]["name"] == "rtf_wall"
    assert answer["changes"][0]["figures"][0]["change"]["difference_interval"]["low"] > 0


def test_benches_that_have_nothing_in_common_leave_with_3(run: Run, tmp_path: Path) -> None:
    ran = compared(run, tmp_path, bench_of(repeated(0.1)), bench_of(repeated(0.1, streams=4)))
    assert ran.status == 3
    assert "only in the first: starter-en · throughput · 1 thread" in ran.out
    assert "(streams 1 and 4)" in ran.err


def test_benches_of_other_recordings_leave_with_3(run: Run, tmp_path: Path) -> None:
    ran = compared(run, tmp_path, bench_of(repeated(0.1)), bench_of(repeated(0.1), clips=("five", "six")))
    assert ran.status == 3
    assert "no recording in common" in ran.err


def test_single_repetitions_at_live_pace_do_not_pass(run: Run, tmp_path: Path) -> None:
    five = listening(1.0)
    one = msgspec.structs.replace(five, runs=five.runs[:1])
    ran = compared(run, tmp_path, bench_of(one), bench_of(one))
    assert ran.status == 6
    assert "undecided: n too small (1, 2 needed)" in ran.out
    assert "too few repetitions" in ran.err


def test_a_file_that_is_no_bench_leaves_with_3(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert run("bench", "compare", tmp_path / "x.json", tmp_path / "x.json").status == 3


def test_bench_without_compare_is_a_measurement(run: Run) -> None:
    assert "Usage: edge-asr bench compare [OPTIONS] A.json B.json" in run("bench", "compare", "--help").out
    assert "Usage: edge-asr bench [OPTIONS] [MODEL]..." in run("bench", "--help").out
