"""Progress of downloads: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from edge_asr.store.download import Progress


@contextlib.contextmanager
def download_progress() -> Iterator[Progress]:
    """A progress callback for as long as the block lasts."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(label: str, done_bytes: int, total_bytes: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label)
            bars.update(tasks[label], completed=done_bytes, total=total_bytes or None)

        yield show


def _silent(_label: str, _done_bytes: int, _total_bytes: int) -> None:
    """Nobody watches."""
