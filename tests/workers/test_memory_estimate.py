from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from edge_asr.manifest import ModelManifest, Precision
from edge_asr.workers.memory_estimate import memory_for
from tests.workers import scripted

MB = 1_000_000


def manifest(family: str, precision: Precision) -> ModelManifest:
    return replace(scripted.model(Path()).manifest, family=family, precision=precision)


@pytest.mark.parametrize(
    ("family", "precision", "files_mb", "measured_mb"),
    [
        ("zipformer2-ctc", "int8", 5.6, 101.6),
        ("zipformer2-ctc", "int8", 25.1, 148.7),
        ("zipformer2-transducer", "int8", 27.4, 149.8),
        ("zipformer2-transducer", "int8", 70.4, 197.6),
        ("zipformer2-ctc", "fp32", 89.8, 200.5),
        ("zipformer2-transducer", "fp32", 261.7, 423.0),
        ("moonshine", "int8", 44.2, 214.4),
    ],
)
def test_the_estimate_is_near_what_was_measured(
    family: str, precision: Precision, files_mb: float, measured_mb: float
) -> None:
    estimated = memory_for(manifest(family, precision), round(files_mb * MB))
    assert 0.95 * measured_mb * MB < estimated < 1.25 * measured_mb * MB
