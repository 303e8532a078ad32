"""The conditions of a run: record them, then have them judged.

::

    recorder = ConditionsRecorder()
    recorder.start()
    ...                                    # the run
    record = recorder.stop()               # before, samples, after
    events = RunEvents(provider_used=..., feeder_jitter_ms=..., chunk_ms=...)
    reasons = violations(record.before, record.samples, record.after, events)
    figures = condition_figures(record.before, record.samples, record.after, events)

The recorder is the only part with a thread and a clock; readings are values (``snapshot.py``) and the judge is a pure
function of them (``validity.py``). A recorder's own readings are work of our process and never foreign load.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from edge_asr.bench.document import Violation
from edge_asr.bench.snapshot import Snapshot, take_snapshot
from edge_asr.bench.validity import ConditionFigures, RunEvents, condition_figures, violations

__all__ = [
    "ConditionFigures",
    "ConditionsRecord",
    "ConditionsRecorder",
    "RunEvents",
    "Snapshot",
    "Violation",
    "condition_figures",
    "take_snapshot",
    "violations",
]


class ConditionsRecord(msgspec.Struct, frozen=True):
    """All readings of one run."""

    before: Snapshot
    samples: tuple[Snapshot, ...]
    after: Snapshot


class ConditionsRecorder:
    """Reads the machine before, during and after a run.

    Args:
        interval_s: Between two readings of the thread; a reading costs some milliseconds of one core.
        root: Where ``proc`` and ``sys`` are.
        tree_pid: Top of the processes that are ours; this process when omitted.
        other_trees: Tops of further ones, such as a daemon that is measured.
    """

    def __init__(
        self,
        interval_s: float = 1.0,
        root: Path = Path("/"),
        tree_pid: int | None = None,
        other_trees: Sequence[int] = (),
    ) -> None:
        self._read: Callable[[], Snapshot] = lambda: take_snapshot(root, tree_pid, other_trees)
        self._interval_s = interval_s
        self._samples: list[Snapshot] = []
        self._stopping = threading.Event()
        self._before: Snapshot | None = None
        self._thread = threading.Thread(target=self._sample, name="conditions", daemon=True)

    def start(self) -> None:
        """Take the first reading, and go on in a thread."""
        self._before = self._read()
        self._thread.start()

    def stop(self) -> ConditionsRecord:
        """Take the last reading, after the thread has ended.

        Raises:
            RuntimeError: It was never started.
        """
        if self._before is None:
            raise RuntimeError("a recorder that was never started has nothing to say")
        self._stopping.set()
        self._thread.join()
        return ConditionsRecord(self._before, tuple(self._samples), self._read())

    def _sample(self) -> None:
        while not self._stopping.wait(self._interval_s):
            self._samples.append(self._read())
