"""Whether the confidence of words is what it says: of the words with a confidence of 0.9, nine of ten should be right.

::

    EDGE_ASR_DATA=DATA python tools/confidence.py -m models/starter-en-transducer --svg docs/confidence.svg

Words of the bundled recordings and, where ``$EDGE_ASR_DATA/digits`` is there, of single spoken digits
(``DIGIT_SPEAKER_NUMBER.wav``, every fifth) are compared with what was said; with ``--prompts`` every Nth of Debian's
telephone prompts too. Prints the reliability table: words by what the model gave them, the mean of that, and the share
of them that is right; how far the two are apart on average, and how far with the line of points that the manifest can
have (``confidence``), each half of the recordings judged by the line through the other one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from itertools import chain, pairwise
from pathlib import Path

from edge_asr.cli.recordings import open_recordings
from edge_asr.cli.stores import open_store
from edge_asr.clock import MonotonicClock
from edge_asr.pipeline.confidence import Calibration
from edge_asr.requests import SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import Settings
from edge_asr.store.voice_activity import installed_vad
from edge_asr.transcription import transcribe
from edge_asr.workers.configuration import pack
from edge_asr.workers.loading import load_model

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
Judged = tuple[float, bool]
"""What the model gave a word, and whether it is right."""
CLIPS = Path(__file__).resolve().parent.parent / "edge_asr" / "clips"
EDGES = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class Bin:
    """Words whose confidence lies between two values."""

    low: float
    high: float
    words: int
    confidence: float
    """Mean."""
    right: float
    """Share."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Reliability of the confidence of words.")
    parser.add_argument("-m", "--model", required=True, help="store name or directory; one that gives confidences")
    parser.add_argument("--every", type=int, default=5, metavar="N", help="every Nth digit (5)")
    parser.add_argument("--prompts", type=int, default=0, metavar="N", help="every Nth telephone prompt too (none)")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the diagram to FILE")
    options = parser.parse_args()
    by_recording = list(judged_words(options.model, list(recordings(options.every, options.prompts))))
    words = flat(by_recording)
    if not words:
        parser.error(f"{options.model} gives no confidences")
    bins = reliability(words)
    figures = {
        "words": len(words),
        "error": round(calibration_error(bins), 4),
        "held_out_error": round(held_out_error(by_recording), 4),
        "bins": list(map(asdict, bins)),
    }
    print(json.dumps(figures))
    print(f"confidence = {json.dumps(rising_line(bins))}")
    for each in bins:
        print(f"| {each.low:g} to {each.high:g} | {each.words} | {each.confidence:.3f} | {each.right:.3f} |")
    if options.svg:
        options.svg.write_text(diagram(bins), encoding="utf-8")


def recordings(every: int, prompts: int) -> Iterator[tuple[Path, str]]:
    """Path and what is said in it."""
    for line in (CLIPS / "clips.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        name, text, *_ = line.split("\t")
        yield CLIPS / name, text
    folder = Path(os.environ.get("EDGE_ASR_DATA", "")) / "digits"
    for path in sorted(folder.glob("[0-9]_*.wav"))[::every]:
        yield path, DIGITS[int(path.name[0])]
    if prompts:
        from prompts import load_prompts  # of this folder, which tests do not run from

        for prompt in load_prompts(Path(tempfile.gettempdir()) / "edge-asr-prompts")[::prompts]:
            yield prompt.path, " ".join(re.findall(r"[a-z']+", prompt.text.lower()))


def judged_words(name: str, spoken: list[tuple[Path, str]]) -> Iterator[list[Judged]]:
    """Of each recording, what the model gave every recognised word, and whether it is right."""
    store, settings, clock = open_store(), Settings(), MonotonicClock()
    loaded = load_model(pack(store.resolve(name).directory, settings, installed_vad(store)))
    loop = DecodeLoop(loaded.engine, settings.endpoint, settings.scheduler, clock, Understanding(loaded.text_case))
    for path, text in spoken:
        ((_, source),) = open_recordings(str(path), "mix", None)
        finals = transcribe(loop, source, SessionOptions(partials=False, is_batch=True), clock).finals
        words = [word for final in finals for word in final.words]
        matcher = SequenceMatcher(None, text.split(), [word.text.lower() for word in words], autojunk=False)
        right = {block.b + at for block in matcher.get_matching_blocks() for at in range(block.size)}
        yield [(word.confidence, at in right) for at, word in enumerate(words) if word.confidence is not None]


def flat(by_recording: Sequence[list[Judged]]) -> list[Judged]:
    """All words."""
    return list(chain.from_iterable(by_recording))


def reliability(words: Sequence[Judged]) -> list[Bin]:
    """Words by their confidence; ranges without words are left out."""
    bins = []
    for low, high in pairwise(EDGES):
        inside = [word for word in words if low <= word[0] < high or (high == 1.0 and word[0] == 1.0)]
        if inside:
            mean = sum(confidence for confidence, _ in inside) / len(inside)
            bins.append(Bin(low, high, len(inside), mean, sum(right for _, right in inside) / len(inside)))
    return bins


def calibration_error(bins: list[Bin]) -> float:
    """Mean distance between confidence and share, over the words."""
    return sum(each.words * abs(each.confidence - each.right) for each in bins) / sum(each.words for each in bins)


def rising_line(bins: Sequence[Bin]) -> list[tuple[float, float]]:
    """From the mean of each range to its share, where that rises; ranges in which it falls are one (Ayer 1955).

    Two more words are counted in each, one of them right (Laplace), so that few words do not make certainty.
    """
    pools: list[list[float]] = []  # words, sum of their confidences, right ones
    for each in bins:
        pools.append([each.words, each.words * each.confidence, each.words * each.right])
        while len(pools) > 1 and _share(pools[-2]) >= _share(pools[-1]):
            last = pools.pop()
            pools[-1] = [one + other for one, other in zip(pools[-1], last, strict=True)]
    return [(round(pool[1] / pool[0], 3), round(_share(pool), 3)) for pool in pools]


def _share(pool: Sequence[float]) -> float:
    return (pool[2] + 1) / (pool[0] + 2)


def held_out_error(by_recording: Sequence[list[Judged]]) -> float:
    """Of the words of each half of the recordings, with the line through those of the other half."""
    halves = [flat(by_recording[first::2]) for first in (0, 1)]
    judged: list[Judged] = []
    for fitted, held_out in (halves, halves[::-1]):
        line = Calibration(tuple(rising_line(reliability(fitted))))
        judged += ((line.share(confidence), is_right) for confidence, is_right in held_out)
    return calibration_error(reliability(judged))


def diagram(bins: list[Bin]) -> str:
    """Share against confidence as SVG; the area of a dot is the number of its words."""
    side, margin = 300, 40
    most = max(each.words for each in bins)

    def place(confidence: float, share: float) -> tuple[float, float]:
        return margin + confidence * side, margin + (1 - share) * side

    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 + 8 * math.sqrt(each.words / most):.1f}" fill="#2a6fb0" '
        f'fill-opacity="0.7"><title>{each.low:g} to {each.high:g}: {each.words} words</title></circle>'
        for each in bins
        for x, y in (place(each.confidence, each.right),)
    )
    below, left = margin + side + 16, margin - 6
    marks = "".join(
        f'<text x="{margin + share * side:.0f}" y="{below}" text-anchor="middle">{share:g}</text>'
        f'<text x="{left}" y="{margin + (1 - share) * side + 4:.0f}" text-anchor="end">{share:g}</text>'
        for share in (0, 0.5, 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side + 2 * margin}" height="{side + 2 * margin + 10}" '
        'font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/><rect x="{margin}" y="{margin}" width="{side}" '
        f'height="{side}" fill="none" stroke="#888"/>'
        f'<line x1="{margin}" y1="{margin + side}" x2="{margin + side}" y2="{margin}" stroke="#888" '
        f'stroke-dasharray="4"/>{dots}{marks}'
        f'<text x="{margin + side / 2}" y="{margin + side + 34}" text-anchor="middle">confidence</text>'
        f'<text x="12" y="{margin + side / 2}" text-anchor="middle" '
        f'transform="rotate(-90 12 {margin + side / 2})">share of words that are right</text></svg>\n'
    )


if __name__ == "__main__":
    main()
