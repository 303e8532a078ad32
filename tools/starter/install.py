"""Put an exported model in the repository: ``install.py OUT VERSION``.

Three directories of ``models/`` are renewed, with sizes, digests and the count of words in their manifests:
``starter-en`` (int8, bundled with the package), ``starter-en-fp32`` (the float32 original, for the workstation) and
``starter-en-transducer`` (the same encoder with a decoder and a joiner, which takes hotwords and beam search).
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from edge_asr.manifest import MANIFEST_FILE, ModelFile, ModelManifest, ModelSource, Precision, format_manifest

HERE = Path(__file__).parent
MODELS = HERE.parents[1] / "models"
SPELLING = MODELS / "starter-en" / "bpe.model"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One directory of ``models/``."""

    name: str
    family: str
    precision: Precision
    files: dict[str, str]
    """Role to file name in the export."""
    summary: str
    hears: str = "hears {words} command words only"


def artifacts(words: int) -> tuple[Artifact, ...]:
    """What is made of one export."""
    common = {"tokens": "tokens.txt", "bpe": "bpe.model"}
    ctc = {**common, "graph": "vocab.fst"}
    return (
        Artifact(
            "starter-en",
            "zipformer2-ctc",
            "int8",
            {"model": "model.int8.onnx", **ctc},
            f"Spoken commands in English ({words} words), streaming, 5 MB",
        ),
        Artifact(
            "starter-en-fp32",
            "zipformer2-ctc",
            "fp32",
            {"model": "model.onnx", **ctc},
            "The float32 original of starter-en, to quantize and to compare with",
        ),
        Artifact(
            "starter-en-transducer",
            "zipformer2-transducer",
            "int8",
            {"encoder": "encoder.int8.onnx", "decoder": "decoder.onnx", "joiner": "joiner.int8.onnx", **common},
            "starter-en's encoder with a transducer head: open spelling, beam search, hotwords",
            "was trained on {words} command words and spells others as they sound",
        ),
    )


def install(artifact: Artifact, out: Path, version: str, words: int) -> int:
    """Write one directory; its size in bytes."""
    target = MODELS / artifact.name
    target.mkdir(exist_ok=True)
    for name in artifact.files.values():
        source = SPELLING if name == SPELLING.name else out / name
        if source != target / name:
            shutil.copyfile(source, target / name)
    shutil.copyfile(HERE / "words.txt", target / "words.txt")
    manifest = ModelManifest(
        name=artifact.name,
        version=version,
        family=artifact.family,
        languages=("en",),
        sample_rate_hz=16_000,
        chunk_ms=320,
        precision=artifact.precision,
        licence="Apache-2.0",
        source=ModelSource(kind="bundled"),
        summary=artifact.summary,
        words_note=(
            f"{artifact.name} {artifact.hears.format(words=words)}; for open speech run "
            "`edge-asr models pull moonshine-tiny-en`"
        ),
        files={role: _described(target, name) for role, name in artifact.files.items()},
    )
    (target / MANIFEST_FILE).write_text(format_manifest(manifest), encoding="utf-8")
    return sum((target / name).stat().st_size for name in artifact.files.values())


def _described(target: Path, name: str) -> ModelFile:
    content = (target / name).read_bytes()
    return ModelFile(path=name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder that export.py and graph.py wrote")
    parser.add_argument("version")
    args = parser.parse_args()
    words = len((HERE / "words.txt").read_text(encoding="utf-8").split())
    for artifact in artifacts(words):
        print(f"{artifact.name}: {install(artifact, args.out, args.version, words)} bytes")


if __name__ == "__main__":
    main()
