"""How fast models are beside each other: recording by recording in turns, each in a process of its own.

Whatever slows the machine for a while slows them all, and the ratio stays. CPU time is compared, not wall time: on a
workstation where others work too, it is the better witness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edge_asr.quantize.decoding import Candidate, decoding_process
from edge_asr.quantize.evaluation_set import Recording
from edge_asr.settings import Settings
from edge_asr.statistics import Block, PairedChange, TooFew, paired_change, pooled_ratio

WARM_UP = 2
"""Recordings that every model decodes before the clock counts."""

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Speeds:
    """CPU seconds and audio seconds of each model, by recording and round."""

    blocks: Mapping[str, tuple[Block, ...]]
    resident_bytes: Mapping[str, int]
    """Memory of each model's process when it was loaded."""

    def rtf_cpu(self, name: str) -> float:
        """Pooled CPU time per second of audio."""
        return pooled_ratio(self.blocks[name]).value

    def ratio(self, name: str, to: str) -> PairedChange:
        """How the real-time factor of a model compares with another's."""
        change = paired_change(self.blocks[to], self.blocks[name])
        assert not isinstance(change, TooFew)
        return change


def choose_for_speed(recordings: Sequence[Recording], audio_s: float, seed: int) -> list[Recording]:
    """Recordings drawn at random until they are so long together, at least two."""
    order = np.random.default_rng(seed).permutation(len(recordings))
    chosen: list[Recording] = []
    for index in order:
        if len(chosen) >= WARM_UP and sum(one.audio_s for one in chosen) >= audio_s:
            break
        chosen.append(recordings[index])
    return chosen


def measure_speed(
    candidates: Mapping[str, Candidate],
    recordings: Sequence[Recording],
    settings: Settings,
    vad_model: Path | None = None,
    rounds: int = ROUNDS,
) -> Speeds:
    """Let the models take turns.

    Args:
        candidates: Name to model; all are loaded at the same time.
        recordings: At least two.
        settings: Those of :func:`edge_asr.quantize.decoding.judging_settings`.
        vad_model: For models that do not stream.
        rounds: How often each recording is decoded.

    Raises:
        EdgeAsrError: A model cannot be loaded, or fails on a recording.
    """
    names = list(candidates)
    blocks: dict[str, list[Block]] = {name: [] for name in names}
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(decoding_process(candidate, settings, vad_model))
            for name, candidate in candidates.items()
        }
        for recording in recordings[:WARM_UP]:
            for process in processes.values():
                process.recognise(recording.clip.path)
        for turn in range(rounds):
            for number, recording in enumerate(recordings):
                # Whoever comes second finds the audio in the cache; nobody always does.
                first = (turn + number) % len(names)
                for name in names[first:] + names[:first]:
                    heard = processes[name].recognise(recording.clip.path)
                    # Rounds of one recording are one block: what disturbs them comes from outside.
                    blocks[name].append(Block(0, recording.sha256, heard.cpu_s, heard.audio_s))
        resident = {name: process.resident_bytes for name, process in processes.items()}
    return Speeds({name: tuple(own) for name, own in blocks.items()}, resident)
