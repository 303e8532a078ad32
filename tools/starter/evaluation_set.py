"""The held-out speech as files: ``evaluation_set.py DATA OUT [--words 20000] [--only TEXTS]``.

Writes a FLAC file per utterance and ``manifest.tsv`` (audio, text, vocabulary), which ``edge-asr bench --audio`` and
``edge-asr quantize --eval`` read. Engines take turns, so that any beginning of the list holds all of them. With
``--only`` a file of sentences, one a line, picks a few: the recordings bundled with the package were chosen that way.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path

import corpus
import soundfile
import text

RATE_HZ = 16_000


def held_out(data: Path) -> Iterator[corpus.Utterance]:
    """Every test utterance whose words are all in the vocabulary; the engines take turns."""
    known = set(text.vocabulary())
    books = corpus.utterances(data, "test")
    fitting = [[row for row in books[engine] if known.issuperset(row.text.split())] for engine in sorted(books)]
    return (row for row in chain.from_iterable(zip_longest(*fitting)) if row is not None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", type=int, default=20_000, help="stop when so many words are written")
    parser.add_argument("--only", type=Path, help="file of sentences: each once, in whichever voice comes first")
    args = parser.parse_args()
    wanted = set(args.only.read_text(encoding="utf-8").splitlines()) if args.only else None
    args.out.mkdir(parents=True, exist_ok=True)
    words, lines = 0, ["audio\ttext\tvocabulary"]
    for number, row in enumerate(held_out(args.data)):
        if words >= args.words or (wanted is not None and not wanted):
            break
        if wanted is not None and row.text not in wanted:
            continue
        if wanted is not None:
            wanted.remove(row.text)
        engine, voice = row.shard.name.split("-")[0], row.voice.replace("+", "-")
        name = f"{engine}-{voice}-{number:05d}.flac"
        soundfile.write(args.out / name, row.sound(), RATE_HZ, subtype="PCM_16")
        lines.append(f"{name}\t{row.text}\tcommands")
        words += len(row.text.split())
    (args.out / "manifest.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} recordings, {words} words")
    if words < args.words and wanted is None:
        raise SystemExit(f"only {words} of {args.words} words: make more test speech (make_data.py --part test)")


if __name__ == "__main__":
    main()
