"""Endless augmented batches of about equal length, from seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import corpus
import numpy as np
import sentencepiece
import torch
from augment import augment, coloured_noise, mask_features, other_throat
from features import filter_banks
from torch.utils.data import IterableDataset, get_worker_info

WEIGHTS = {"kokoro": 0.42, "hibari": 0.16, "flite": 0.11, "espeak": 0.14, "festival": 0.07, "people": 0.1}
"""How often an engine is drawn, whatever the number of its utterances."""

FRAMES_PER_BATCH = 2000
POOL = 96
SILENCE = 0.015
PAIR = 0.12
OTHER_THROAT = 1.0
"""How often, at full strength, a voice gets another vocal tract."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded features (utterances, frames, 80), true lengths, and the concatenated targets with their lengths."""

    features: torch.Tensor
    frames: torch.Tensor
    targets: torch.Tensor
    target_lengths: torch.Tensor

    def to(self, device: torch.device) -> Batch:
        """The same, where the network is."""
        return Batch(*(getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)))


class BatchSource(IterableDataset):
    """Draws, augments and groups utterances.

    Args:
        data: Folder of shards; looked at again for each pool, so that training may start before all are made.
        spelling: Path of the BPE model.
        seed: Different for each process.
        strength: How hard to augment, 0 to 1.
        frames: Most frames of a batch, padding among them.
    """

    def __init__(self, data: Path, spelling: Path, seed: int, strength: float, frames: int = FRAMES_PER_BATCH) -> None:
        self._data = data
        self._spell = sentencepiece.SentencePieceProcessor(model_file=str(spelling))
        self._seed = seed
        self._draw = np.random.default_rng(seed)
        self._strength, self._frames = strength, frames

    def __iter__(self) -> Iterator[Batch]:
        if worker := get_worker_info():  # each draws its own utterances
            self._draw = np.random.default_rng((self._seed, worker.id))
        while True:
            book = corpus.utterances(self._data, "train")
            book = {engine: rows for engine, rows in book.items() if engine in WEIGHTS}
            pool = [self._example(book) for _ in range(POOL * self._frames // FRAMES_PER_BATCH)]
            yield from self._grouped(pool)

    def _pick(self, book: dict[str, list[corpus.Utterance]]) -> corpus.Utterance:
        engines = sorted(book)
        weights = np.array([WEIGHTS[engine] for engine in engines])
        rows = book[engines[self._draw.choice(len(engines), p=weights / weights.sum())]]
        return rows[self._draw.integers(len(rows))]

    def _example(self, book: dict[str, list[corpus.Utterance]]) -> tuple[np.ndarray, list[int]]:
        draw = self._draw
        if draw.random() < SILENCE:
            noise = coloured_noise(int(draw.uniform(1.5, 4) * 16_000), draw.uniform(0, 2.2), draw)
            return filter_banks(noise * np.float32(10 ** draw.uniform(-4, -1))), []
        chosen = self._pick(book)
        sound, label = chosen.sound(), chosen.text
        if draw.random() < PAIR and sound.size < 4 * 16_000:
            second = self._pick(book)
            gap = np.zeros(int(draw.uniform(0.05, 0.5) * 16_000), np.float32)
            sound, label = np.concatenate([sound, gap, second.sound()]), f"{label} {second.text}"
        other_speech: Callable[[], np.ndarray] = lambda: self._pick(book).sound()  # noqa: E731 - a closure over one draw
        features = filter_banks(augment(sound, self._strength, draw, other_speech))
        if draw.random() < OTHER_THROAT * self._strength:
            features = other_throat(features, draw.uniform(0.86, 1.16))
        return mask_features(features, self._strength, draw), self._spell.encode(label)

    def _grouped(self, pool: list[tuple[np.ndarray, list[int]]]) -> Iterator[Batch]:
        fitting = [row for row in pool if len(row[0]) <= self._frames and _emits(len(row[0])) > 1.1 * len(row[1])]
        fitting.sort(key=lambda row: len(row[0]))
        groups: list[list[tuple[np.ndarray, list[int]]]] = [[]]
        for row in fitting:
            if (len(groups[-1]) + 1) * len(row[0]) > self._frames:
                groups.append([])
            groups[-1].append(row)
        self._draw.shuffle(groups)
        yield from map(_collate, filter(None, groups))


def _emits(frames: int) -> int:
    return ((frames - 7) // 2 + 1) // 2


def _collate(rows: list[tuple[np.ndarray, list[int]]]) -> Batch:
    longest = max(len(features) for features, _ in rows)
    longest += (7 - longest) % 32  # few different shapes: 32 k + 7 frames
    # Padding is masked in the encoder; digital silence is its nearest natural value.
    padded = np.full((len(rows), longest, 80), -15.9, np.float32)
    for place, (features, _) in enumerate(rows):
        padded[place, : len(features)] = features
    return Batch(
        features=torch.from_numpy(padded),
        frames=torch.tensor([len(features) for features, _ in rows]),
        targets=torch.tensor([token for _, tokens in rows for token in tokens], dtype=torch.long),
        target_lengths=torch.tensor([len(tokens) for _, tokens in rows]),
    )
