"""Keep what ONNX Runtime's quantizers do to logging to themselves."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unheard() -> Iterator[None]:
    """Nothing below an error is logged inside, and the root logger comes out as it went in.

    One of their modules configures the root logger as it is imported, and all of them log through it: advice on
    preparations that have been made, and a line for each node.
    """
    root = logging.getLogger()
    handlers, level, disabled = list(root.handlers), root.level, root.manager.disable
    logging.disable(max(disabled, logging.WARNING))
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.disable(disabled)
