"""Where results are drawn: standard output, by rich."""

from __future__ import annotations

import errno
from typing import NoReturn

from rich.console import Console


class ResultsConsole(Console):
    """Leaves a reader who has seen enough (``edge-asr … | head``) to the top of the program; rich would exit with 1."""

    def on_broken_pipe(self) -> NoReturn:
        """Called within the handling of a ``BrokenPipeError``."""
        raise BrokenPipeError(errno.EPIPE, "standard output was closed")


def results_console(width: int | None = None) -> Console:
    """Standard output without highlighting, as wide as the terminal or ``width`` columns."""
    return ResultsConsole(highlight=False, width=width)
