"""A running daemon, measured through its native protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from edge_asr.bench.document import Result
from edge_asr.cli.bench_daemon import Daemon, Wanted, _front_pid, find_daemon, measure_daemon
from edge_asr.cli.daemon_address import parse_address
from edge_asr.errors import ConfigurationError, MachineError
from edge_asr.workload import ClipAudio, bundled_clips, clips_for, load_clip
from tests.support.daemon import DaemonProcess

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def process() -> Iterator[DaemonProcess]:
    with DaemonProcess() as started:
        yield started


@pytest.fixture(scope="module")
def daemon(process: DaemonProcess) -> Daemon:
    return find_daemon(process.http, None)


@pytest.fixture(scope="module")
def clips() -> list[ClipAudio]:
    return [load_clip(clip) for clip in clips_for(bundled_clips(), knows_all_words=False)]


def measured(daemon: Daemon, clips: list[ClipAudio], restarts=lambda: 0, **wanted: Any) -> Result:
    defaults: dict[str, Any] = {
        "modes": ("paced",),
        "streams": (1,),
        "pieces_ms": (100,),
        "repetitions": 1,
        "seconds": 4.0,
        "idle_s": 0.0,
        "seed": 0,
    }
    (result,), is_interrupted = measure_daemon(
        daemon, clips, Wanted(**{**defaults, **wanted}), lambda *_: None, restarts
    )
    assert not is_interrupted
    return result


def test_a_daemon_says_what_it_is(daemon: Daemon, process: DaemonProcess) -> None:
    assert (daemon.model, daemon.provider, daemon.language) == ("starter-en", "cpu", "en")
    assert daemon.front_pid == process.process.pid


def test_listeners_hear_what_was_said_and_when(daemon: Daemon, clips: list[ClipAudio]) -> None:
    result = measured(daemon, clips)
    (run,) = result.runs
    assert (result.configuration.door, result.configuration.model) == ("daemon", "starter-en")
    assert [each.clip for each in run.utterances][:2] == ["go-forward.flac", "five-five.flac"]
    assert result.figures["wer"].value == 0
    flushed, left = run.utterances[:2]
    assert flushed.flush_ms is not None
    assert flushed.final_ms is None
    assert left.final_ms is not None
    parts = (left.final_rule_ms, left.final_compute_ms, left.final_delivery_ms)
    assert sum(part for part in parts if part is not None) == pytest.approx(left.final_ms, abs=0.01)


def test_its_processes_are_charged_and_are_not_foreign(daemon: Daemon, clips: list[ClipAudio]) -> None:
    result = measured(daemon, clips, idle_s=1.0)
    (run,) = result.runs
    assert run.cpu_s > 0
    assert run.conditions["tree_cpu_s"] >= run.cpu_s
    assert result.figures["memory_peak"].value == run.peak_bytes > 30 << 20
    assert run.idle_cpu_share is not None
    assert {"rtf_cpu_live", "flush_latency_max", "first_partial_p50", "stability"} <= set(result.figures)


def test_what_a_client_cannot_see_has_no_figure(daemon: Daemon, clips: list[ClipAudio]) -> None:
    figures = measured(daemon, clips).figures
    assert not [name for name in figures if name.startswith(("chunk_", "deadline_miss", "backlog_max", "first_decode"))]


def test_as_fast_as_possible_several_listeners_share_it(daemon: Daemon, clips: list[ClipAudio]) -> None:
    result = measured(daemon, clips, modes=("throughput",), streams=(2,))
    (run,) = result.runs
    assert {each.stream for each in run.utterances} == {0, 1}
    assert sum(each.wall_s for each in run.utterances) == pytest.approx(run.wall_s)
    assert sum(each.cpu_s for each in run.utterances) == pytest.approx(run.cpu_s)
    assert result.figures["rtf_wall"].value == pytest.approx(run.wall_s / run.audio_s)


def test_a_worker_that_was_started_again_makes_the_run_invalid(daemon: Daemon, clips: list[ClipAudio]) -> None:
    restarts = iter([0, 1])
    result = measured(daemon, clips, restarts=lambda: next(restarts))
    assert "child_died" in {violation.code for violation in result.runs[0].violations}


def test_more_streams_than_it_takes_are_refused(daemon: Daemon, clips: list[ClipAudio]) -> None:
    with pytest.raises(ConfigurationError, match=f"takes {daemon.max_sessions} sessions"):
        measured(daemon, clips, streams=(daemon.max_sessions + 1,))


def test_of_a_daemon_elsewhere_only_our_own_clock_counts(daemon: Daemon, clips: list[ClipAudio]) -> None:
    result = measured(replace(daemon, front_pid=None), clips)
    (run,) = result.runs
    assert "another machine" in " ".join(run.notes)
    assert {each.final_delivery_ms for each in run.utterances} == {None}
    assert not {"rtf_cpu_live", "memory_peak", "memory_growth"} & set(result.figures)


def test_a_daemon_that_is_gone_is_said(daemon: Daemon, clips: list[ClipAudio]) -> None:
    nobody = parse_address("http://127.0.0.1:9", ("http",))
    result = measured(replace(daemon, address=nobody), clips)
    assert (result.error_code, result.runs) == (MachineError.code, ())
    assert "no daemon answers" in result.error


def test_nobody_there_is_said() -> None:
    with pytest.raises(MachineError, match="no daemon answers"):
        find_daemon("http://127.0.0.1:9", None)


def test_another_process_of_that_number_is_not_taken_for_the_daemon() -> None:

    near, far = (parse_address(url, ("http",)) for url in ("http://127.0.0.1:1", "http://10.0.0.7:1"))
    assert _front_pid(far, os.getpid()) is None
    assert _front_pid(near, 0) is None
