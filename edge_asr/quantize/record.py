"""What is written down about a quantization, from the things themselves."""

from __future__ import annotations

from collections.abc import Sequence

from edge_asr.quantize.document import AudioSet, ComponentRecord, NodeRecord, Origin
from edge_asr.quantize.evaluation_set import Recording
from edge_asr.quantize.search import Searched
from edge_asr.quantize.workshop import Made, files_bytes, graph_files
from edge_asr.store.digest import sha256_of
from edge_asr.store.store import InstalledModel

PACKAGES = ("sherpa-onnx", "onnxruntime", "onnx", "numpy", "jiwer", "whisper-normalizer")
"""Those whose version changes what comes out."""


def origin_of(model: InstalledModel) -> Origin:
    """The model that is quantized, by the digests of its files."""
    manifest = model.manifest
    return Origin(
        name=manifest.name,
        version=manifest.version,
        family=manifest.family,
        licence=manifest.licence,
        directory=str(model.directory),
        files={role: sha256_of(model.directory / file.path) for role, file in manifest.files.items()},
    )


def component_records(original: InstalledModel, made: Made) -> tuple[ComponentRecord, ...]:
    """Each graph of a candidate beside the original's."""
    before = graph_files(original)
    after = graph_files(InstalledModel(made.candidate.manifest, made.candidate.directory))
    records = []
    for role, path in after.items():
        counts = made.counts.get(role)
        records.append(
            ComponentRecord(
                role=role,
                original_bytes=files_bytes(before[role]),
                bytes=files_bytes(path),
                nodes=dict(counts.quantized) if counts else {},
                operators_before=dict(counts.before) if counts else {},
                operators_after=dict(counts.after) if counts else {},
            )
        )
    return tuple(records)


def node_records(searched: Searched, kept: str) -> tuple[NodeRecord, ...]:
    """Every node with what was chosen for it, and what each choice alone did."""
    chosen = searched.assignments.get(kept, {})
    return tuple(
        NodeRecord(
            component=node.component,
            name=node.name,
            operator=node.operator,
            weight_shape=node.weight_shape,
            choice=chosen.get((node.component, node.name), "fp32"),
            divergence={
                choice: found.nats for choice, found in searched.harms.get((node.component, node.name), {}).items()
            },
        )
        for node in searched.nodes
    )


def audio_set(source: str, recordings: Sequence[Recording]) -> AudioSet:
    """Recordings by the digests of what is heard in them."""
    return AudioSet(
        source=source,
        recordings=len(recordings),
        audio_s=round(sum(one.audio_s for one in recordings), 3),
        units=sum(one.units for one in recordings),
        sha256=tuple(one.sha256 for one in recordings),
    )
