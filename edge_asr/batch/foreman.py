"""The foreman gives out recordings, writes down what comes back, and knows at the end what was heard and what not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from edge_asr.batch.crew import Crew
from edge_asr.batch.ledger import Entry, Ledger
from edge_asr.batch.messages import Done, Heard, Lost, Outcome, Returned, Task, Unusable
from edge_asr.batch.recordings import Recording, Stamp, stamp_of
from edge_asr.batch.transcripts import write_transcripts
from edge_asr.errors import TranscriptUnwritable, WorkerDied
from edge_asr.filenames import readable, to_text

MOST_ATTEMPTS = 2
"""A recording on which so many workers ended is left alone: it may be what ends them."""

WAIT_S = 1.0
"""Between two looks at whether there is room again, while nothing comes back."""

Render = Callable[[Recording, Sequence[Heard]], dict[str, str]]
"""Transcripts of a recording: path below the output folder to text."""

Watch = Callable[[Recording, int], None]
"""Called with a recording that is settled, and how many are."""


@dataclass(slots=True)
class Report:
    """What became of a batch; grows while it runs."""

    done: int = 0
    """Recordings heard in this run."""
    done_before: int = 0
    """Recordings that an earlier run had heard."""
    audio_s: float = 0.0
    """Length of what was heard in this run; of a recording whose channels are heard apart, each counts."""
    lost_workers: int = 0
    """Workers that ended while they had a recording."""
    bad: list[Entry] = field(default_factory=list)
    warnings: int = 0
    """Of the recordings heard; the sentences are in the transcripts."""

    @property
    def settled(self) -> int:
        """Recordings that need no more work in this run."""
        return self.done + self.done_before + len(self.bad)


class Foreman:
    """One run over the recordings of a batch."""

    def __init__(self, output: Path, ledger: Ledger, crew: Crew, render: Render, watch: Watch) -> None:
        self.report = Report()
        self._output = output
        self._ledger = ledger
        self._crew = crew
        self._render = render
        self._watch = watch
        self._recordings: Sequence[Recording] = ()
        self._pending: deque[int] = deque()
        self._doubtful: deque[int] = deque()
        """Those on which a worker ended: each again when nothing else is being heard, so that nobody else is blamed."""
        self._out: dict[int, Stamp | None] = {}
        """Being heard, and what the file was when it was given out: one that changes meanwhile is heard again."""
        self._attempts: dict[int, int] = {}

    def run(self, recordings: Sequence[Recording]) -> Report:
        """Hear every recording that was not heard before.

        Raises:
            EdgeAsrError: Nobody can go on, or nothing can be written; what is done is written down.
        """
        self._recordings = recordings
        # The largest first: a long one that is begun last keeps everybody waiting who has nothing left to do.
        self._pending = deque(sorted(self._unheard(range(len(recordings))), key=self._size_bytes, reverse=True))
        while self._pending or self._doubtful or self._out:
            self._give_out()
            outcome = self._crew.next(WAIT_S)
            if outcome is not None and outcome.number in self._out:
                self._take(outcome)
        return self.report

    def _unheard(self, numbers: Iterable[int]) -> Iterable[int]:
        for number in numbers:
            if self._ledger.is_done(self._recordings[number]):
                self.report.done_before += 1
                self._watch(self._recordings[number], self.report.settled)
            else:
                yield number

    def _size_bytes(self, number: int) -> int:
        stamp = stamp_of(self._recordings[number].path)
        return stamp.size_bytes if stamp else 0

    def _give_out(self) -> None:
        for _ in range(min(self._crew.room(), len(self._pending))):
            self._give(self._pending.popleft())
        if self._doubtful and not self._pending and not self._out:
            self._give(self._doubtful.popleft())

    def _give(self, number: int) -> None:
        path = self._recordings[number].path
        self._out[number] = stamp_of(path)
        self._crew.give(Task(number, to_text(str(path.absolute()))))

    def _take(self, outcome: Outcome) -> None:
        stamp = self._out.pop(outcome.number)
        recording = self._recordings[outcome.number]
        match outcome:
            case Done(_, heard):
                self._write(recording, stamp, heard)
            case Unusable(_, code, message):
                self._give_up(recording, stamp, code, message)
            case Lost(number, message):
                self._try_again(number, recording, stamp, message)
            case Returned(number):
                self._pending.appendleft(number)

    def _write(self, recording: Recording, stamp: Stamp | None, heard: Sequence[Heard]) -> None:
        try:
            outputs = write_transcripts(self._output, self._render(recording, heard))
        except TranscriptUnwritable as error:
            self._give_up(recording, stamp, error.code, str(error))
            return
        audio_s = sum(channel.audio_s for channel in heard)
        self._ledger.record(_entry(recording, stamp, outputs=outputs, audio_s=round(audio_s, 3)))
        self.report.done += 1
        self.report.audio_s += audio_s
        self.report.warnings += sum(len(channel.warnings) for channel in heard)
        self._watch(recording, self.report.settled)

    def _give_up(self, recording: Recording, stamp: Stamp | None, code: str, message: str) -> None:
        entry = _entry(recording, stamp, code=code, message=message)
        self._ledger.record(entry)
        self.report.bad.append(entry)
        self._watch(recording, self.report.settled)

    def _try_again(self, number: int, recording: Recording, stamp: Stamp | None, message: str) -> None:
        self.report.lost_workers += 1
        attempts = self._attempts[number] = self._attempts.get(number, 0) + 1
        if attempts < MOST_ATTEMPTS:
            self._doubtful.append(number)
            return
        sentence = f"{readable(str(recording.path))}: {attempts} workers ended while they heard it ({message})"
        self._give_up(recording, stamp, WorkerDied.code, sentence)


def _entry(
    recording: Recording,
    stamp: Stamp | None,
    *,
    outputs: dict[str, int] | None = None,
    audio_s: float = 0.0,
    code: str = "",
    message: str = "",
) -> Entry:
    size_bytes, mtime_ns = (stamp.size_bytes, stamp.mtime_ns) if stamp else (0, 0)
    return Entry(
        place=to_text(recording.place),
        file=to_text(str(recording.path)),
        size_bytes=size_bytes,
        mtime_ns=mtime_ns,
        outputs={to_text(name): size for name, size in (outputs or {}).items()},
        audio_s=audio_s,
        code=code,
        message=message,
    )
