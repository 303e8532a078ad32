"""Why a worker ended, in one sentence for people: from its exit status and its last words."""

from __future__ import annotations

import signal

_COMMON_CAUSES = {signal.SIGKILL: "; out of memory?", signal.SIGSEGV: "; the native engine crashed"}


def describe_exit(returncode: int, last_words: str = "") -> str:
    """A clause such as ``killed by signal 9 (SIGKILL; out of memory?)``.

    Args:
        returncode: As ``subprocess`` gives it: negative for a signal.
        last_words: The last line the process wrote to standard error.
    """
    how = f"exit status {returncode}" if returncode >= 0 else _describe_signal(-returncode)
    return f"{how}: {last_words}" if last_words else how


def _describe_signal(number: int) -> str:
    try:
        name = signal.Signals(number)
    except ValueError:
        return f"killed by signal {number}"
    return f"killed by signal {number} ({name.name}{_COMMON_CAUSES.get(name, '')})"
