"""Find where the words of recordings are: ``align.py MANIFEST.tsv`` prints the manifest with a column ``words``.

A forced alignment by PocketSphinx with its US English model (``pip install pocketsphinx==5.0.4``): independent of every
model that is measured with it. Words that are not in its dictionary make the recording be left without an alignment.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import soundfile
import soxr
from pocketsphinx import Decoder

RATE_HZ = 16_000
FRAMES_PER_S = 100
NO_WORDS = frozenset(("<s>", "</s>", "<sil>", "[NOISE]", "(NULL)"))


def words_of(path: Path, text: str) -> list[tuple[str, float, float]]:
    """Each word with its start and end in seconds; empty when the alignment fails."""
    sound, rate_hz = soundfile.read(path, dtype="float32")
    pcm = (soxr.resample(sound, rate_hz, RATE_HZ) * 32767).astype("<i2").tobytes()
    decoder = Decoder(samprate=RATE_HZ, loglevel="FATAL")
    if any(decoder.lookup_word(word) is None for word in text.split()):
        return []
    decoder.set_align_text(text)
    decoder.start_utt()
    decoder.process_raw(pcm, full_utt=True)
    decoder.end_utt()
    spans = []
    for segment in decoder.seg() or ():
        word = segment.word.partition("(")[0]
        if segment.word not in NO_WORDS and word:
            spans.append((word, segment.start_frame / FRAMES_PER_S, (segment.end_frame + 1) / FRAMES_PER_S))
    return spans if [word for word, _, _ in spans] == text.split() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path, help="TSV with the columns audio and text")
    args = parser.parse_args()
    with args.manifest.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    fields = [*dict.fromkeys([*rows[0], "words"])]
    writer = csv.DictWriter(sys.stdout, fields, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE)
    writer.writeheader()
    for row in rows:
        spans = words_of(args.manifest.parent / row["audio"], row["text"])
        if not spans:
            print(f"{row['audio']}: could not be aligned", file=sys.stderr)
        row["words"] = " ".join(f"{word}:{start:.2f}:{end:.2f}" for word, start, end in spans)
        writer.writerow(row)


if __name__ == "__main__":
    main()
