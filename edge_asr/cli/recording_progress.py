"""What is shown while recordings are transcribed: one bar for all of them, or the partials; only on a terminal."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

Show = Callable[[str, float], None]
"""Called with the recording's name and how many recordings are done; fractions count."""


@contextlib.contextmanager
def recording_bar(total: int, *, is_wanted: bool) -> Iterator[Show]:
    """A bar over ``total`` recordings on standard error while the block lasts; nothing when that is no terminal."""
    if not (is_wanted and sys.stderr.isatty()):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = [TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    if total > 1:
        columns.insert(2, MofNCompleteColumn())
    # Transcripts on the same terminal are drawn above the bar; in a file or a pipe they must stay what they are.
    is_shared = sys.stdout.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=is_shared) as bars:
        task = bars.add_task("", total=total)

        def show(name: str, done: float) -> None:
            bars.update(task, description=Path(name).name, completed=done)

        yield show


class PartialLine:
    """Partials on standard error: one line rewritten on a terminal, a line each elsewhere."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._is_drawn = False

    def show(self, text: str) -> None:
        """Draw the partial in place of the one before."""
        if not self._is_terminal:
            sys.stderr.write(f"partial: {text}\n")
            sys.stderr.flush()
            return
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[K\x1b[2m{text[-width:]}\x1b[0m")
        sys.stderr.flush()
        self._is_drawn = True

    def clear(self) -> None:
        """Make room for something else."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False


def _silent(_name: str, _done: float) -> None:
    """Nobody watches."""
