"""Put an exported model in the repository: ``install.py OUT VERSION``.

Copies the int8 model, the tokens and the graph to ``models/starter-en``, and renews sizes, digests and the count of
words in its manifest.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from pathlib import Path

import msgspec.structs

from edge_asr.manifest import MANIFEST_FILE, ModelFile, format_manifest, read_manifest

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "models" / "starter-en"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder with model.int8.onnx, tokens.txt and vocab.fst")
    parser.add_argument("version")
    args = parser.parse_args()
    for name in ("model.int8.onnx", "tokens.txt", "vocab.fst"):
        shutil.copyfile(args.out / name, TARGET / name)
    shutil.copyfile(HERE / "words.txt", TARGET / "words.txt")
    words = len((HERE / "words.txt").read_text(encoding="utf-8").split())
    manifest = read_manifest(TARGET / MANIFEST_FILE)
    files = {role: _described(file.path) for role, file in manifest.files.items()}
    renewed = msgspec.structs.replace(
        manifest,
        version=args.version,
        files=files,
        summary=f"Spoken commands in English ({words} words), streaming, 5 MB",
        words_note=(
            f"starter-en hears {words} command words only; for open speech run `edge-asr models pull moonshine-tiny-en`"
        ),
    )
    (TARGET / MANIFEST_FILE).write_text(format_manifest(renewed), encoding="utf-8")


def _described(path: str) -> ModelFile:
    content = (TARGET / path).read_bytes()
    return ModelFile(path=path, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


if __name__ == "__main__":
    main()
