"""The model store: whether its models are whole and whether there is room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from edge_asr.diagnosis.finding import Finding
from edge_asr.errors import EdgeAsrError, ModelTooNew

LITTLE_BYTES = 256 << 20
"""A model of usual size twice: while it is replaced, the old one stays."""
NOTHING_BYTES = 16 << 20
"""Uploads and the record of the active model must still be written."""


def model_findings(examined: Mapping[str, EdgeAsrError | None], served: str) -> Iterator[Finding]:
    """What checking every installed model gave.

    Args:
        examined: Each model's name with what is wrong; ``None`` for a whole one.
        served: The model the daemon would serve; without it nothing goes, without another one much does.
    """
    for name, error in examined.items():
        if error is None:
            continue
        advice = "install a newer edge-asr" if isinstance(error, ModelTooNew) else f"edge-asr models verify {name}"
        if name == served:
            yield Finding("error", error.code, str(error), "it is the model that the daemon would serve", advice)
        else:
            yield Finding("warning", error.code, str(error), "it cannot be served; another one is active", advice)
    whole = [name for name, error in examined.items() if error is None]
    if whole:
        yield Finding("ok", "models", f"whole by their checksums and graphs: {', '.join(whole)}")


def space_findings(directory: Path, free_bytes: int) -> Iterator[Finding]:
    """Room where new models go."""
    what = f"{free_bytes >> 20} MiB are free for models in {directory}"
    advice = "remove models (`edge-asr models remove`), or set EDGE_ASR_HOME to a larger disk"
    if free_bytes < NOTHING_BYTES:
        yield Finding("error", "disk_full", what, "neither models nor uploads can be written", advice)
    elif free_bytes < LITTLE_BYTES:
        why = "while a model is replaced the old one stays, so that an update may not fit"
        yield Finding("warning", "disk_short", what, why, advice)
    else:
        yield Finding("ok", "disk", what)


def writable_findings(refusal: EdgeAsrError | None) -> Iterator[Finding]:
    """Whether there is any place for new models; that of a service may belong to its own user."""
    if refusal is not None:
        yield Finding("info", refusal.code, str(refusal), "installed models are read all the same", "")
