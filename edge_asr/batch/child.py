"""``python -m edge_asr.batch.child``: a worker on this machine.

Standard input brings an :class:`~edge_asr.batch.messages.Order` as one line of JSON, then a
:class:`~edge_asr.batch.messages.Task` as a line, again and again; standard output answers each with a line, and says
once a second that it is still at it, for one that hears an hour of audio looks like one that hangs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

import msgspec

from edge_asr.batch.messages import FromChild, Listening, Order, Ready, Task, Unfit
from edge_asr.errors import EdgeAsrError

if TYPE_CHECKING:
    from edge_asr.workers.loaded_model import LoadedModel
    from edge_asr.workers.messages import Configure

STANDARD_LOADER = "edge_asr.workers.loading:load_model"
"""``module:function`` that is called with the ``Configure``."""

NICENESS = 10
"""A daemon on the same machine decodes for somebody who is waiting."""

_SAY_EVERY_S = 1.0
_STDOUT, _STDERR = 1, 2


def main() -> None:
    """The process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the foreman ends us
    os.nice(NICENESS)
    answers = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)  # whatever native code prints must not mix with the answers
    parser = argparse.ArgumentParser()
    parser.add_argument("--loader", default=STANDARD_LOADER)
    loader = parser.parse_args().loader
    with os.fdopen(answers, "wb") as answer:
        try:
            _serve(sys.stdin.buffer, answer, loader)
        except BrokenPipeError:
            os._exit(1)  # the foreman is gone, and nobody waits for what we hear
    os._exit(0)  # native thread pools can hang the interpreter's own way out


def _serve(questions: IO[bytes], answer: IO[bytes], loader: str) -> None:
    order = msgspec.json.decode(questions.readline(), type=Order)
    from edge_asr.batch.hearing import Hearer

    try:
        hearer = Hearer(order, _loader(loader))
    except EdgeAsrError as error:
        _say(answer, Unfit(error.code, str(error)))
        return
    _say(answer, Ready())
    for line in questions:
        _say(answer, hearer.hear(msgspec.json.decode(line, type=Task), _still_listening(answer)))


def _still_listening(answer: IO[bytes]) -> Callable[[], None]:
    said_s = time.monotonic()

    def say() -> None:
        nonlocal said_s
        if time.monotonic() - said_s >= _SAY_EVERY_S:
            said_s = time.monotonic()
            _say(answer, Listening())

    return say


def _loader(name: str) -> Callable[[Configure], LoadedModel]:
    module, _, function = name.partition(":")
    loader: Callable[[Configure], LoadedModel] = getattr(importlib.import_module(module), function)
    return loader


def _say(answer: IO[bytes], message: FromChild) -> None:
    answer.write(msgspec.json.encode(message) + b"\n")
    answer.flush()


if __name__ == "__main__":
    main()
