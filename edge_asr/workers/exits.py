"""Why a worker ended, in one sentence for people: from its exit status, its last words and its load error."""

from __future__ import annotations

import signal
from collections.abc import Iterator

from edge_asr.errors import EdgeAsrError

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


def error_of(code: str, message: str) -> EdgeAsrError:
    """The error a worker reported, as an instance of its own class; an unknown code is the root of the tree.

    It carries the sentence and the code; the facts that the sentence was composed from stay in the worker.
    """
    kind = next((kind for kind in _tree(EdgeAsrError) if kind.code == code), EdgeAsrError)

    # The classes compose their sentence in __init__ from facts that we do not have; this one takes it as it is.
    def take_sentence(self: EdgeAsrError, sentence: str) -> None:
        Exception.__init__(self, sentence)

    reported = type(kind.__name__, (kind,), {"__init__": take_sentence, "__str__": Exception.__str__})
    error: EdgeAsrError = reported(message)
    return error


def _tree(root: type[EdgeAsrError]) -> Iterator[type[EdgeAsrError]]:
    yield root
    for kind in root.__subclasses__():
        yield from _tree(kind)
