"""The hook command, with real programs."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.settings import HookSettings
from edge_asr.sinks.base import Waiting
from edge_asr.sinks.hook import HookSink, last_bytes
from tests.sinks.conftest import Counted, spoken

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere"}


@asynccontextmanager
async def hook(counted: Counted, *command: str, timeout_s: float = 20.0) -> AsyncIterator[HookSink]:
    sink = HookSink(HookSettings(command, timeout_s=timeout_s), Waiting("hook", 8, counted), ENVIRONMENT)
    running = asyncio.create_task(sink.run())
    try:
        yield sink
        await sink.drained()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_the_command_gets_the_text_and_everything_as_json(tmp_path: Path, counted: Counted) -> None:
    out = tmp_path / "out"
    script = (
        "import os, sys; open(sys.argv[1], 'a').write(os.environ['EDGE_ASR_TEXT'] + '|' + sys.stdin.read() + '\\n')"
    )
    async with hook(counted, sys.executable, "-c", script, str(out)) as sink:
        sink.offer(spoken("go; rm -rf $HOME `x`"))
        sink.offer(spoken("stop"))
    first, second = (line.partition("|") for line in out.read_text().splitlines())
    assert first[0] == "go; rm -rf $HOME `x`"
    assert json.loads(first[2])["protocol"] == "wyoming"
    assert second[0] == "stop"
    assert counted == {("hook", "delivered"): 2}


async def test_a_command_that_fails_is_named_with_its_last_words(
    counted: Counted, caplog: pytest.LogCaptureFixture
) -> None:
    async with hook(counted, "sh", "-c", "echo before >&2; echo no lamp >&2; exit 3") as sink:
        sink.offer(spoken())
    assert "left with 3: no lamp" in caplog.text
    assert counted == {("hook", "failed"): 1}


async def test_one_that_takes_too_long_is_ended_with_its_children(
    tmp_path: Path, counted: Counted, caplog: pytest.LogCaptureFixture
) -> None:
    fifo = tmp_path / "fifo"
    script = f"mkfifo {fifo}; cat {fifo} & wait"
    async with hook(counted, "sh", "-c", script, timeout_s=0.3) as sink:
        sink.offer(spoken())
        sink.offer(spoken())
    assert "it took longer than 0.3 s" in caplog.text
    assert counted == {("hook", "failed"): 2}
    assert f"cat {fifo}" not in _running_commands()


def _running_commands() -> str:
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(entry.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended meanwhile
    return "\n".join(lines)


def test_a_program_that_is_not_there_is_named(counted: Counted) -> None:
    with pytest.raises(ConfigurationError, match="no program 'no-such-program'"):
        HookSink(HookSettings(("no-such-program",)), Waiting("hook", 8, counted), ENVIRONMENT)


async def test_a_command_that_complains_without_end_is_heard_to_its_last_words_only(
    counted: Counted, caplog: pytest.LogCaptureFixture
) -> None:
    script = "head -c 1000000 /dev/zero >&2; printf '\\n\\033[31mno\\377lamp' >&2; exit 3"
    async with hook(counted, "sh", "-c", script) as sink:
        sink.offer(spoken())
    assert "left with 3: [31mno\ufffdlamp" in caplog.text


async def test_of_what_a_command_complains_only_the_end_is_kept() -> None:
    pipe = asyncio.StreamReader()
    pipe.feed_data(bytes(1_000_000) + b"no lamp")
    pipe.feed_eof()
    kept = await last_bytes(pipe)
    assert (len(kept), kept[-7:]) == (65_536, b"no lamp")
