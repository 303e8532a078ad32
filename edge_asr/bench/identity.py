"""What was measured, with what, on what: the parts of a document that make it possible to repeat it."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from edge_asr.bench.document import ClipIdentity, ModelIdentity, Workload
from edge_asr.resources.packages import installed_versions
from edge_asr.scoring import score
from edge_asr.store.digest import sha256_of
from edge_asr.store.store import InstalledModel
from edge_asr.workload import ClipAudio, sha256_of_audio

PACKAGES = ("sherpa-onnx", "onnxruntime", "numpy", "soxr", "soundfile", "msgspec", "jiwer", "whisper-normalizer")
"""Those whose version changes a figure."""


def versions() -> dict[str, str]:
    """Package, interpreter and kernel versions; packages that are not installed are left out."""
    return {**installed_versions(PACKAGES), "kernel": platform.release()}


def model_identity(model: InstalledModel) -> ModelIdentity:
    """The model by the digests of its files as they are on disk now.

    Raises:
        OSError: A file is missing or cannot be read.
    """
    manifest = model.manifest
    paths = {role: model.directory / file.path for role, file in manifest.files.items()}
    return ModelIdentity(
        name=manifest.name,
        version=manifest.version,
        family=manifest.family,
        precision=manifest.precision,
        chunk_ms=manifest.chunk_ms,
        files={role: sha256_of(path) for role, path in paths.items()},
        size_bytes=sum(path.stat().st_size for path in paths.values()),
    )


def workload_identity(source: str, clips: Sequence[ClipAudio], language: str) -> Workload:
    """The recordings by the digests of what is heard in them."""
    return Workload(
        source=source,
        language=language,
        normaliser=score([], [], language).normaliser,
        clips=tuple(
            ClipIdentity(
                name=audio.clip.name,
                sha256=sha256_of_audio(audio),
                audio_s=round(audio.audio_s, 4),
                text=audio.clip.reference,
            )
            for audio in clips
        ),
    )
