"""One row per client program, judged."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from tools.protocol_table.daemon import Daemon
from tools.protocol_table.program import Heard, Program
from tools.protocol_table.recording import Recording

LONGEST_S = 60.0
"""For one program's run."""

DROPS = 5

BEGIN, END = "<!-- tools/protocols -->", "<!-- end -->"
"""Marks of the table in the documentation."""

TIME_SLACK_S = 0.5
"""By which a word may seem to end after the audio: the last one lasts until the end of what was decoded."""


@dataclass(frozen=True)
class Row:
    """What a program gets; ``None`` where its protocol has no such thing."""

    protocol: str
    client: str
    text: bool
    one_end: bool
    partials: bool | None
    timestamps: bool | None
    error_shown: bool | None
    survives_drop: bool
    note: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether nothing is wrong."""
        return all(value is not False for value in asdict(self).values())

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"ok": self.is_ok, **asdict(self)}


async def judge(program: Program, daemon: Daemon, recording: Recording) -> Row:
    """Run the program three times: in order, wrongly, and broken off."""
    try:
        async with asyncio.timeout(LONGEST_S):
            heard = await program.listen(daemon, recording)
            shown = await program.err(daemon, recording) if program.err is not None else None
            for _ in range(DROPS):
                await program.drop(daemon, recording)
            await asyncio.to_thread(daemon.wait_until_idle)
            again = await program.listen(daemon, recording)
    except Exception as error:  # noqa: BLE001  the row says what went wrong, and the others are still run
        none = (False, False, False, False, False, False)
        return Row(program.protocol, program.client, *none, note=f"{type(error).__name__}: {error}")
    expected = recording.segments[-1] if program.last_segment_only else recording.text
    return Row(
        program.protocol,
        program.client,
        text=heard.text == expected,
        one_end=heard.ends == 1,
        partials=None if heard.partials is None else heard.partials > 0,
        timestamps=None if heard.times_s is None else _are_times(heard, recording),
        error_shown=None if shown is None else bool(shown),
        survives_drop=again.text == expected,
        note="" if heard.text == expected else f"heard {heard.text!r}",
    )


def _are_times(heard: Heard, recording: Recording) -> bool:
    """Some, in order, and within the audio."""
    times = heard.times_s or []
    in_order = all(before[0] <= after[0] for before, after in pairwise(times))
    within = all(0 <= start <= end <= recording.duration_s + TIME_SLACK_S for start, end in times)
    return bool(times) and in_order and within


def markdown(rows: Sequence[Row]) -> str:
    """The table of the documentation."""
    return "\n".join(_lines(rows)) + "\n"


def with_table(document: str, table: str) -> str:
    """The document with the table between its two marks."""
    before, start, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"the document has no {BEGIN} … {END}")
    return f"{before}{start}\n{table}{end}{after}"


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    yield "| protocol | client program | text | one end | partials | times | error shown | survives drops |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        marks = (row.text, row.one_end, row.partials, row.timestamps, row.error_shown, row.survives_drop)
        yield f"| {row.protocol} | {row.client} | {' | '.join(map(_mark, marks))} |"


def _mark(value: bool | None) -> str:
    return {True: "yes", False: "**no**", None: "–"}[value]
