"""The one table of exit codes; everything else only raises errors."""

from __future__ import annotations

import errno

from edge_asr.errors import (
    ConfigurationError,
    GateFailed,
    InputError,
    LimitExceeded,
    MachineError,
    ModelError,
    NotReady,
    Overloaded,
    WorkerDied,
)

DONE = 0
FAULT = 1
"""A fault of the program."""
USAGE = 2
INPUT = 3
MODEL = 4
MACHINE = 5
GATE = 6
INTERRUPTED = 130

_BY_ERROR: tuple[tuple[type[BaseException], int], ...] = (
    (ConfigurationError, USAGE),
    (InputError, INPUT),
    (LimitExceeded, INPUT),
    (ModelError, MODEL),
    (MachineError, MACHINE),
    (Overloaded, MACHINE),
    (NotReady, MACHINE),
    (WorkerDied, MACHINE),
    (MemoryError, MACHINE),
    (GateFailed, GATE),
    (KeyboardInterrupt, INTERRUPTED),
)


def exit_code_of(error: BaseException) -> int:
    """The process's exit status when this error ends it."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MACHINE
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), FAULT)
