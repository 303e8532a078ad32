"""What is measured of one peer with one model in one repetition: a fresh process, a warm-up, then the recordings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from edge_asr.store.importing import UNKNOWN_LANGUAGE
from edge_asr.store.store import InstalledModel
from edge_asr.workload import OPEN_VOCABULARY
from tools.peers_bench.peer import Peer, Running
from tools.peers_bench.processes import foreign_share, machine_use, peak_memory_bytes, tree_cpu_s
from tools.peers_bench.recordings import Recording

OWN_MODEL = "its own"


@dataclass(frozen=True, slots=True)
class Case:
    """A peer with a model."""

    peer: Peer
    model: InstalledModel | None
    """``None``: its own."""

    @property
    def model_name(self) -> str:
        """For tables."""
        return self.model.manifest.name if self.model else OWN_MODEL


@dataclass(frozen=True, slots=True)
class Measurement:
    """One recording through one peer."""

    peer: str
    model: str
    repetition: int
    way: Literal["decode", "listen"]
    recording: str
    audio_s: float
    cpu_s: float
    wall_s: float
    """``decode``: the time it took. ``listen``: from the last audio to the final."""
    late_s: float
    """``listen``: largest delay of the feeder."""
    text: str
    reference: str
    """Empty where the text is not to be judged."""


@dataclass(frozen=True, slots=True)
class Pass:
    """All of a case in one repetition."""

    peer: str
    model: str
    repetition: int
    peak_bytes: int
    """Of the process tree; 0 for programs that end with each recording."""
    foreign_share: float
    """Share of the machine that others used meanwhile."""
    measurements: tuple[Measurement, ...]


def measure(case: Case, repetition: int, long: Sequence[Recording], spoken: Sequence[Recording]) -> Pass:
    """Start the peer and give it everything that it is able to do.

    Args:
        case: Who.
        repetition: Its number, from 0.
        long: Decoded as fast as possible.
        spoken: Listened to at live pace.

    Raises:
        PeerFailed: It did.
    """
    cores = len(os.sched_getaffinity(0))
    with case.peer.start(case.model) as running:
        _warm_up(case, running, spoken)
        before = machine_use()
        measurements = []
        if "decode" in case.peer.abilities:
            measurements += [_decode(case, running, repetition, recording) for recording in long]
        if "listen" in case.peer.abilities:
            measurements += [_listen(case, running, repetition, recording) for recording in spoken]
        after = machine_use()
        peak = 0 if running.pid == os.getpid() else peak_memory_bytes(running.pid, Path("/"))
    share = foreign_share(before, after, cores)
    return Pass(case.peer.name, case.model_name, repetition, peak, share, tuple(measurements))


def _warm_up(case: Case, running: Running, spoken: Sequence[Recording]) -> None:
    shortest = min(spoken, key=lambda recording: recording.audio_s)
    if "listen" in case.peer.abilities:
        running.listen(shortest)


def _decode(case: Case, running: Running, repetition: int, recording: Recording) -> Measurement:
    decoded = running.decode(recording)
    return Measurement(
        peer=case.peer.name,
        model=case.model_name,
        repetition=repetition,
        way="decode",
        recording=recording.name,
        audio_s=recording.audio_s,
        cpu_s=decoded.cpu_s,
        wall_s=decoded.wall_s,
        late_s=0.0,
        text=decoded.text,
        reference=_reference(case.model, recording),
    )


def _listen(case: Case, running: Running, repetition: int, recording: Recording) -> Measurement:
    before_s = tree_cpu_s(running.pid)
    heard = running.listen(recording)
    return Measurement(
        peer=case.peer.name,
        model=case.model_name,
        repetition=repetition,
        way="listen",
        recording=recording.name,
        audio_s=recording.audio_s,
        cpu_s=tree_cpu_s(running.pid) - before_s,
        wall_s=heard.flush_s,
        late_s=heard.late_s,
        text=heard.text,
        reference=_reference(case.model, recording),
    )


def _reference(model: InstalledModel | None, recording: Recording) -> str:
    """What a model can be judged by: one of commands only by commands, one without a language by nothing."""
    if model is None:
        return recording.reference
    is_beyond_it = bool(model.manifest.words_note) and recording.vocabulary == OPEN_VOCABULARY
    return "" if is_beyond_it or UNKNOWN_LANGUAGE in model.manifest.languages else recording.reference
