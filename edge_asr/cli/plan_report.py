"""A plan as one JSON document, or as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from rich.table import Table
from rich.text import Text

from edge_asr.bench.capacity import BoardCapacity
from edge_asr.bench.load import CallLoad, Load
from edge_asr.bench.plan import Plan
from edge_asr.bench.wording import counted
from edge_asr.cli.console import results_console
from edge_asr.statistics import Percentile

Row = tuple[str, str, str]
"""What, how much, how it comes about."""


def as_document(capacity: BoardCapacity, load: Load, plan: Plan) -> str:
    """Everything, with the unit in each name; ``is_valid`` is false when the measurements do not count."""
    parts = {"is_valid": not capacity.violations, "load": load, "plan": plan, "capacity": capacity}
    return msgspec.json.format(msgspec.json.encode(parts), indent=2).decode()


def render(capacity: BoardCapacity, load: Load, plan: Plan) -> None:
    """Print to standard output."""
    console = results_console()
    console.print(f"[bold]{counted(plan.boards, 'board')}[/bold] for {_load_text(load)}")
    if plan.warnings:
        console.print(_listed("!", plan.warnings), style="yellow")
    console.print(_table(("figure", "value", "how"), _rows(capacity, load, plan)))
    console.print(_table(("network, per stream", "kb/s on the wire", "Mb/s, all streams"), _network(plan)))
    for advice in plan.advice:
        console.print(f"[bold]{advice.processor.upper()}[/bold]: {advice.verdict}")
        if advice.arithmetic:
            console.print(_listed(" -", advice.arithmetic))
    console.print("[bold]Assumed[/bold]")
    console.print(_listed(" -", plan.assumptions))


def _listed(mark: str, lines: Sequence[str]) -> Table:
    """Lines that hang beside their mark when they are too long for the terminal."""
    table = Table.grid(padding=(0, 1))
    for line in lines:
        table.add_row(mark, Text(line))
    return table


def _table(titles: Row, rows: Iterator[Row]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title, justify in zip(titles, ("left", "right", "left"), strict=True):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    return table


def _load_text(load: Load) -> str:
    if not isinstance(load, CallLoad):
        return f"{counted(load.streams, 'stream')} always on"
    peak = f" (x {load.peak_factor:g} in the busiest)" if load.peak_factor != 1 else ""
    return f"{load.calls_per_hour:g} calls per hour{peak} of {load.mean_duration_s:g} s, arrivals {load.arrivals}"


def _rows(capacity: BoardCapacity, load: Load, plan: Plan) -> Iterator[Row]:
    test = capacity.at_capacity
    p99 = f"{test.p99.value:.0f} ms" if isinstance(test.p99, Percentile) else str(test.p99)
    yield "measured", counted(capacity.streams, "stream"), f"{capacity.board}: {capacity.configuration}"
    yield "chunk p99", p99, f"of {test.chunk_ms:.0f} ms, with {counted(test.streams, 'stream')}"
    if isinstance(load, CallLoad) and plan.calls:
        rate = f"{load.calls_per_hour:g} x {load.peak_factor:g} / 3600 x {load.mean_duration_s:g} s"
        yield "offered", f"{plan.calls.offered_erlangs:.2f} erlangs", rate
    yield "streams needed", str(plan.streams_needed), _needed_text(load)
    yield "boards at work", str(plan.working_boards), f"{plan.streams_needed} / {plan.streams_per_board}, rounded up"
    if plan.boards > plan.working_boards:
        yield "boards in all", str(plan.boards), f"{plan.boards - plan.working_boards} spare"
    if plan.calls:
        yield from _call_rows(plan)
    yield (
        "streams busy",
        f"{plan.busy_share:.0%}",
        (f"{plan.mean_streams:.2f} of {plan.working_boards} x {plan.streams_per_board} on average"),
    )
    yield (
        "CPU busy",
        f"{plan.cpu_share:.0%}",
        (
            f"{plan.mean_streams / plan.working_boards:.2f} streams x {test.cpu_per_audio_s:.3f} CPU seconds per "
            f"second / {counted(capacity.cores, 'core')}"
        ),
    )
    yield "memory per board", f"{plan.memory_per_board_bytes / 2**20:.0f} MiB", _memory_text(capacity)


def _needed_text(load: Load) -> str:
    if not isinstance(load, CallLoad):
        return "one each"
    method = {"poisson": "Erlang B", "uniform": "Takács", "bursty": "peakedness method"}[load.arrivals]
    return f"fewest that lose at most {load.max_blocking:.2%} ({method})"


def _call_rows(plan: Plan) -> Iterator[Row]:
    calls = plan.calls
    assert calls is not None
    yield (
        "blocking",
        f"{calls.blocking:.2%}",
        f"with {counted(plan.peak_streams, 'stream')} on {counted(plan.working_boards, 'board')}",
    )
    for tried in calls.simulated:
        yield (
            f"simulated, {tried.durations}",
            f"{tried.lost:.2%}",
            (
                f"{tried.lost_low:.2%} to {tried.lost_high:.2%} of {tried.calls} calls; "
                f"{tried.late_share:.2%} of chunks late"
            ),
        )
    if calls.boards_without_dispatcher is not None:
        yield (
            "without dispatcher",
            counted(calls.boards_without_dispatcher, "board"),
            "if calls went to boards at random",
        )


def _memory_text(capacity: BoardCapacity) -> str:
    measured = f"highest measured, {counted(capacity.streams, 'stream')}"
    if capacity.bytes_per_stream is None:
        return measured
    return f"{measured}; {capacity.bytes_per_stream / 2**20:.1f} MiB per further stream"


def _network(plan: Plan) -> Iterator[Row]:
    for bandwidth in plan.bandwidths:
        needs = "" if bandwidth.is_understood else " (a gateway must decode it)"
        total = f"{bandwidth.wire_bps * plan.peak_streams / 1e6:.2f}{needs}"
        yield bandwidth.encoding, f"{bandwidth.wire_bps / 1000:.0f}", total
