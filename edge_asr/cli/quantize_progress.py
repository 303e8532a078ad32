"""Progress of a quantization: a bar with the time left on a terminal, a line for each stage elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from edge_asr.cli.messages import remark

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from edge_asr.quantize.progress import Progress


@contextlib.contextmanager
def quantize_progress() -> Iterator[Progress]:
    """What hears of the stages, for as long as the context lasts."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bar(bars)


class _Lines:
    """Where nobody sits before a terminal."""

    def __init__(self) -> None:
        self._title = ""

    def stage(self, title: str, total: int) -> None:  # noqa: ARG002
        if title != self._title:
            remark(title)
        self._title = title

    def advance(self, done: int) -> None:
        pass

    def say(self, sentence: str) -> None:
        remark(sentence)


class _Bar:
    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._task = bars.add_task("", total=None)

    def stage(self, title: str, total: int) -> None:
        self._bars.reset(self._task, description=title, total=total)

    def advance(self, done: int) -> None:
        self._bars.update(self._task, completed=done)

    def say(self, sentence: str) -> None:
        self._bars.console.print(f"edge-asr: note: {sentence}", markup=False, highlight=False)
