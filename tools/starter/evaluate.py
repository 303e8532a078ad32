"""Measure an exported model as users hear it: ``evaluate.py MODEL_DIR DATA [--graph vocab.fst] [--digits DIR]``.

Everything goes through ``sherpa_onnx.OnlineRecognizer`` in pieces of 100 ms with one thread,
0.1 s of silence before and 0.8 s after. Several models may be named; they hear the same samples, so their word error
rates are paired. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Iterable
from pathlib import Path

import augment
import corpus
import numpy as np
import sherpa_onnx
import soundfile
import soxr
from text import ONES

RATE_HZ = 16_000
PIECE = RATE_HZ // 10

Sample = tuple[np.ndarray, str]


class Recogniser:
    """A model with or without a decoding graph; keeps count of the time it took."""

    def __init__(self, engine: sherpa_onnx.OnlineRecognizer) -> None:
        self._engine = engine
        self.audio_s = self.busy_s = 0.0

    @classmethod
    def ctc(cls, folder: Path, file: str, graph: Path | None) -> Recogniser:
        """A CTC model."""
        return cls(
            sherpa_onnx.OnlineRecognizer.from_zipformer2_ctc(
                model=str(folder / file),
                tokens=str(folder / "tokens.txt"),
                num_threads=1,
                ctc_graph=str(graph) if graph else "",
            )
        )

    @classmethod
    def transducer(cls, folder: Path, paths: int) -> Recogniser:
        """The transducer twin, by greedy search or with a beam of so many paths."""
        return cls(
            sherpa_onnx.OnlineRecognizer.from_transducer(
                encoder=str(folder / "encoder.int8.onnx"),
                decoder=str(folder / "decoder.onnx"),
                joiner=str(folder / "joiner.int8.onnx"),
                tokens=str(folder / "tokens.txt"),
                num_threads=1,
                decoding_method="modified_beam_search" if paths > 1 else "greedy_search",
                max_active_paths=paths,
            )
        )

    def text(self, sound: np.ndarray) -> str:
        padded = np.pad(sound, (RATE_HZ // 10, RATE_HZ * 8 // 10)).astype(np.float32)
        began = time.process_time()
        stream = self._engine.create_stream()
        for first in range(0, padded.size, PIECE):
            stream.accept_waveform(RATE_HZ, padded[first : first + PIECE].tolist())
            self._drain(stream)
        stream.input_finished()
        self._drain(stream)
        self.busy_s += time.process_time() - began
        self.audio_s += padded.size / RATE_HZ
        return self._engine.get_result(stream).strip().lower()

    def _drain(self, stream: sherpa_onnx.OnlineStream) -> None:
        while self._engine.is_ready(stream):
            self._engine.decode_stream(stream)


def word_errors(reference: str, hypothesis: str) -> int:
    """Levenshtein distance over words."""
    heard = hypothesis.split()
    row = list(range(len(heard) + 1))
    for i, word in enumerate(reference.split(), 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1]


def score(recogniser: Recogniser, samples: Iterable[Sample]) -> dict[str, float]:
    """Word error rate in per cent, whole utterances right in per cent, and the number of words."""
    errors = words = right = count = 0
    for sound, reference in samples:
        wrong = word_errors(reference, recogniser.text(sound))
        errors, words = errors + wrong, words + len(reference.split())
        right, count = right + (wrong == 0), count + 1
    return {
        "wer": round(100 * errors / max(1, words), 2),
        "right": round(100 * right / max(1, count), 1),
        "words": words,
    }


def noisy(samples: list[Sample], snr_db: float) -> list[Sample]:
    """The same samples with fan, street or hum; the noise of a sample depends on its text only."""
    out = []
    for sound, label in samples:
        draw = np.random.default_rng(zlib.crc32(label.encode()))
        noise = augment.coloured_noise(sound.size, draw.uniform(0, 2), draw) + 0.5 * augment.hum(sound.size, draw)
        mixed = augment.mix(sound, noise, snr_db)
        out.append((mixed / max(1.0, float(np.abs(mixed).max())), label))
    return out


def held_out(data: Path, limit: int, words: set[str] | None) -> dict[str, list[Sample]]:
    """The test sets, at most ``limit`` utterances each; with ``words``, only those made of nothing else."""
    sets = {}
    for engine, rows in corpus.utterances(data, "test").items():
        fitting = [row for row in rows if words is None or words.issuperset(row.text.split())]
        sets[engine] = [(row.sound(), row.text) for row in fitting[:limit]]
    return sets


def digits(folder: Path, limit: int) -> list[Sample]:
    """Single digits of real people; the same share of each speaker and digit."""
    paths = sorted(folder.glob("*_*_*.wav"), key=lambda path: (int(path.stem.split("_")[2]), path.stem))
    samples = []
    for path in paths[:limit]:
        sound, rate_hz = soundfile.read(path, dtype="float32")
        samples.append((soxr.resample(sound, rate_hz, RATE_HZ), ONES[int(path.stem[0])]))
    return samples


def idle_words_per_hour(recogniser: Recogniser) -> float:
    """Words made of nothing: silence and five colours of noise at five levels, two minutes in all."""
    words, seconds = 0, 0
    draw = np.random.default_rng(0)
    for slope in (0.0, 0.5, 1.0, 1.5, 2.0):
        for level in (0.0, 0.001, 0.01, 0.05, 0.1):
            noise = augment.coloured_noise(5 * RATE_HZ, slope, draw) * np.float32(level)
            words += len(recogniser.text(np.clip(noise, -1, 1)).split())
            seconds += 5
    return words * 3600 / seconds


def measure(recogniser: Recogniser, sets: dict[str, list[Sample]], digit_samples: list[Sample]) -> dict[str, object]:
    """All figures of one recogniser."""
    figures: dict[str, object] = {engine: score(recogniser, samples) for engine, samples in sets.items()}
    for engine in ("kokoro", "piper"):
        if engine in sets:
            figures[f"{engine} at 15 dB"] = score(recogniser, noisy(sets[engine], 15))
    if digit_samples:
        figures["digits"] = score(recogniser, digit_samples)
    figures["idle words per hour"] = idle_words_per_hour(recogniser)
    figures["real-time factor"] = round(recogniser.busy_s / recogniser.audio_s, 4)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("models", type=Path, nargs="+", help="folders with tokens.txt and the model")
    parser.add_argument("--file", default="model.int8.onnx")
    parser.add_argument("--graph", type=Path, help="decoding graph for all models; without it, greedy search")
    parser.add_argument("--transducer", type=int, metavar="PATHS", help="the twin in place of the CTC model; 1: greedy")
    parser.add_argument("--words", type=Path, help="only utterances that consist of these words")
    parser.add_argument("--limit", type=int, default=100, help="utterances per set")
    parser.add_argument("--digits", type=Path, help="folder of the Free Spoken Digit Dataset's recordings")
    args = parser.parse_args()
    words = set(args.words.read_text(encoding="utf-8").split()) if args.words else None
    sets = held_out(args.data, args.limit, words)
    digit_samples = digits(args.digits, args.limit) if args.digits else []
    result = {}
    for folder in args.models:
        if args.transducer:
            recogniser = Recogniser.transducer(folder, args.transducer)
        else:
            recogniser = Recogniser.ctc(folder, args.file, args.graph)
        result[str(folder)] = measure(recogniser, sets, digit_samples)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
