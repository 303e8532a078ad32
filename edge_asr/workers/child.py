"""``python -m edge_asr.workers.child --fd N``: the process that holds the engine and that may die without harm.

Order matters here: threads inherit the cores of the thread that makes them, so this process pins itself before it
imports anything that makes threads (numpy, the engine). Only the standard library and msgspec are imported up to then.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from edge_asr.errors import EdgeAsrError
from edge_asr.resources.affinity import escaped_threads, pin_to
from edge_asr.resources.memory import trim_heap
from edge_asr.workers.link import FrontGone, Link
from edge_asr.workers.messages import Configure, LoadFailed, Ready
from edge_asr.workers.stderr_log import PrefixFormatter

if TYPE_CHECKING:
    from edge_asr.workers.loaded_model import LoadedModel

_logger = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1
_OOM_SCORE = 500
"""Between 0 and 1000: when memory runs out the kernel takes the worker, which is replaced, and not the front."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point; leaves by ``os._exit``, since native thread pools can hang the interpreter's own way out."""
    options = _parse(arguments)
    _log_to_stderr()
    _join(options.group)
    _die_with_the_front()
    _let_the_front_decide_when_to_stop()
    _be_the_first_to_go()
    status = 1
    try:
        os.set_inheritable(options.black_box, False)
        status = _run(Link(_take_socket(options.fd)), options.black_box, options.cpus, options.loader)
    except FrontGone as gone:
        _logger.info("ending: %s", gone)
        status = 0
    except Exception:
        _logger.exception("the worker fails")
    sys.stderr.flush()
    os._exit(status)


def _run(link: Link, black_box_fd: int, cpus: Sequence[int], loader: str) -> int:
    """Load, then serve until the front is done; the exit status."""
    configure = _receive_configure(link)
    started = time.monotonic()
    try:
        if cpus:
            pin_to(cpus)
        model = _import_loader(loader)(configure)
    except EdgeAsrError as error:
        link.send(LoadFailed(error.code, str(error)))
        return 0
    except Exception as error:
        _logger.exception("loading failed")
        link.send(LoadFailed(EdgeAsrError.code, f"loading {configure.model_directory} failed: {error!r}"))
        return 1
    from edge_asr.workers.black_box import BlackBoxWriter
    from edge_asr.workers.heap import keep_what_was_loaded
    from edge_asr.workers.service import serve  # only now: it imports numpy
    from edge_asr.workers.step_time import step_seconds

    keep_what_was_loaded()
    trim_heap()
    ready = _ready(model, time.monotonic() - started, cpus)
    if configure.measures_step:
        ready = msgspec.structs.replace(ready, step_s=step_seconds(model.engine))
    serve(link, configure, model, ready, BlackBoxWriter(black_box_fd))
    return 0


def _receive_configure(link: Link) -> Configure:
    while True:
        for message in link.receive():
            if not isinstance(message, Configure):
                raise TypeError(f"the first message must be Configure, not {type(message).__name__}")
            return message


def _import_loader(name: str) -> Callable[[Configure], LoadedModel]:
    module, _, function = name.partition(":")
    loader: Callable[[Configure], LoadedModel] = getattr(importlib.import_module(module), function)
    return loader


def _ready(model: LoadedModel, load_s: float, cpus: Sequence[int]) -> Ready:
    described = model.engine.describe()
    notes = model.notes
    if escaped := escaped_threads(os.getpid(), cpus or os.sched_getaffinity(0)):
        notes += (f"{len(escaped)} threads of the engine may leave the worker's cores",)
    return Ready(
        pid=os.getpid(),
        model=described.model,
        family=described.family,
        languages=model.languages,
        provider=described.provider,
        threads=described.threads,
        sample_rate_hz=described.sample_rate_hz,
        chunk_ms=described.chunk_ms,
        tail_padding_ms=described.tail_padding_ms,
        is_streaming=described.is_streaming,
        load_s=load_s,
        is_append_only=described.is_append_only and not (model.writing.is_rewriting or model.second),
        streams_per_step=described.streams_per_step,
        why_no_hotwords=model.why_no_hotwords,
        second_pass=model.second.name if model.second else "",
        notes=notes,
        words_note=model.words_note,
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A worker of the edge-asr daemon; not started by hand.")
    parser.add_argument("--fd", type=int, required=True, help="connected socket, inherited")
    parser.add_argument("--black-box", type=int, required=True, help="page shared with the front, inherited")
    parser.add_argument("--cpus", type=_cpus, default=(), help="cores, such as 2,3")
    parser.add_argument("--group", type=Path, help="control group to join")
    parser.add_argument("--loader", required=True, help="module:function that loads the engine")
    return parser.parse_args(arguments)


def _cpus(text: str) -> tuple[int, ...]:
    return tuple(int(cpu) for cpu in text.split(","))


def _take_socket(fd: int) -> socket.socket:
    os.set_inheritable(fd, False)  # a process started by this one (ffmpeg) must not keep the connection open
    return socket.socket(fileno=fd)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(PrefixFormatter("%(name)s: %(message)s"))
    logging.getLogger("edge_asr").addHandler(handler)
    logging.getLogger("edge_asr").setLevel(logging.INFO)


def _join(group: Path | None) -> None:
    """Before anything is loaded: what was taken in another group stays on its account."""
    if group is None:
        return
    try:
        (group / "cgroup.procs").write_text("0", encoding="ascii")  # 0: the process that writes
    except OSError as error:
        _logger.warning("this worker stays in the control group of the front: %s", error)


def _die_with_the_front() -> None:
    """Be killed when the front is, however it ends; the end of the socket says so too, but not while a model loads."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _let_the_front_decide_when_to_stop() -> None:
    """Ctrl-C reaches the whole terminal and systemd signals the whole service; sessions still want their finals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A handler rather than SIG_IGN, which programs started from here would inherit.
        signal.signal(number, lambda _number, _frame: None)


def _be_the_first_to_go() -> None:
    try:
        Path("/proc/self/oom_score_adj").write_text(str(_OOM_SCORE), encoding="ascii")
    except OSError as error:
        _logger.info("cannot tell the kernel to end this process first when memory runs out: %s", error)


if __name__ == "__main__":
    main()
