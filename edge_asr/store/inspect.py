"""Everything that can be known of a model before native code sees it.

The native engine ends the process, or crashes it, on much that is wrong with a model; so each file is looked into
here, and a model that would do so is refused with one sentence. What remains is left to a trial load in a child.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edge_asr.errors import ModelDamaged, ModelTooNew, ModelUnsupported
from edge_asr.families import FAMILIES, ModelFamily
from edge_asr.manifest import ModelManifest, Precision
from edge_asr.store.graph_roles import check_roles
from edge_asr.store.model_metadata import check_metadata
from edge_asr.store.onnx_header import FLOAT, FLOAT16, OnnxHeader, read_header
from edge_asr.store.timing import ModelTiming, timing_of
from edge_asr.store.tokens_file import blank_id, read_tokens

MAX_OPSET = 26
MAX_IR_VERSION = 13
"""What the ONNX Runtime inside sherpa-onnx 2.0.1 loads; opset 27 and IR version 14 are refused by it."""

_NO_GRAPH = ("tokens", "graph", "bpe")
"""Roles whose file is no neural network."""

_BLANK_FIRST = ("zipformer", "conformer", "lstm", "ebranchformer", "wenet")


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What inspection found out."""

    family: str
    kind: str
    """``streaming``, ``segment`` or ``vad``."""
    sizes_bytes: Mapping[str, int]
    """Role to size."""
    precision: Precision
    """By the operators and weights of the largest file; ``.ort`` files keep what the manifest says."""
    timing: ModelTiming
    vocabulary: int
    """Tokens; 0 for models without."""
    notes: tuple[str, ...]
    """What could not be checked."""

    @property
    def total_bytes(self) -> int:
        """Size of all files."""
        return sum(self.sizes_bytes.values())

    @property
    def chunk_ms(self) -> float:
        """Audio per decoding step, by the metadata; 0 for other than streaming models."""
        return self.timing.chunk_ms

    @property
    def lookahead_ms(self) -> float:
        """Audio a step needs beyond its own chunk."""
        return self.timing.lookahead_ms

    @property
    def tail_padding_ms(self) -> float:
        """Silence after the last sample that brings everything through the encoder."""
        return self.timing.chunk_ms + self.timing.lookahead_ms


def inspect_model(directory: Path, manifest: ModelManifest) -> ModelReport:
    """Look into every file of a model.

    Raises:
        ModelDamaged: A file is missing or damaged, or does not fit the others.
        ModelUnsupported: The family is unknown, or the files are of another.
        ModelTooNew: The files need a newer runtime.
    """
    family = _family_of(manifest)
    paths = _paths(directory, manifest, family)
    headers = {role: _header(manifest, paths[role]) for role in paths if role not in _NO_GRAPH}
    for role, header in headers.items():
        _check_versions(manifest.name, paths[role], header)
        _check_external(manifest.name, paths[role], header)
    check_roles(manifest.name, family, headers)
    check_metadata(manifest.name, family, headers, {role: paths[role].name for role in headers})
    symbols = _tokens(manifest.name, paths.get("tokens"))
    _check_vocabulary(manifest.name, family, headers, symbols)
    return ModelReport(
        family=family.name,
        kind=family.kind,
        sizes_bytes={role: path.stat().st_size for role, path in paths.items()},
        precision=_precision(manifest, headers, paths),
        timing=timing_of(family, headers),
        vocabulary=len(symbols),
        notes=tuple(_notes(headers, paths)),
    )


def _family_of(manifest: ModelManifest) -> ModelFamily:
    family = FAMILIES.get(manifest.family)
    if family is None:
        raise ModelUnsupported(manifest.name, f"unknown family {manifest.family!r}; known are: {', '.join(FAMILIES)}")
    return family


def _paths(directory: Path, manifest: ModelManifest, family: ModelFamily) -> dict[str, Path]:
    missing = [role for role in family.roles if role not in manifest.files]
    if missing:
        raise ModelDamaged(manifest.name, f"the manifest names no file for {', '.join(missing)} ({family.name})")
    strange = [role for role in manifest.files if role not in (*family.roles, *family.optional_roles)]
    if strange:
        raise ModelUnsupported(manifest.name, f"{family.name} models have no {', '.join(strange)}")
    paths = {role: directory / file.path for role, file in manifest.files.items()}
    for path in paths.values():
        if not path.is_file():
            raise ModelDamaged(manifest.name, f"{path.name} is missing")
        if not path.stat().st_size:
            raise ModelDamaged(manifest.name, f"{path.name} is empty")
    return paths


def _header(manifest: ModelManifest, path: Path) -> OnnxHeader:
    try:
        return read_header(path)
    except ModelDamaged as error:
        raise ModelDamaged(manifest.name, f"{path.name} {error.reason}") from error


def _check_versions(model: str, path: Path, header: OnnxHeader) -> None:
    opset = header.opsets.get("", 0) or header.opsets.get("ai.onnx", 0)
    if opset > MAX_OPSET:
        raise ModelTooNew(
            model, f"{path.name} needs ONNX operator set {opset}, and the runtime here knows {MAX_OPSET} at most"
        )
    if header.ir_version > MAX_IR_VERSION:
        raise ModelTooNew(
            model,
            f"{path.name} has ONNX IR version {header.ir_version}, and the runtime here reads {MAX_IR_VERSION} at most",
        )


def _check_external(model: str, path: Path, header: OnnxHeader) -> None:
    for name in sorted(header.external_files):
        if not (path.parent / name).is_file():
            raise ModelDamaged(model, f"{path.name} keeps its weights in {name}, which is missing")


def _tokens(model: str, path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        return read_tokens(path)
    except ModelDamaged as error:
        raise ModelDamaged(model, f"{path.name} {error.reason}") from error


def _check_vocabulary(model: str, family: ModelFamily, headers: Mapping[str, OnnxHeader], symbols: list[str]) -> None:
    vocabulary = _vocabulary(family, headers)
    # NeMo counts its vocabulary without the blank.
    allowed = {vocabulary, vocabulary + 1} if "nemo" in family.name or family.name == "t-one-ctc" else {vocabulary}
    if vocabulary and symbols and len(symbols) not in allowed:
        raise ModelDamaged(
            model, f"tokens.txt has {len(symbols)} tokens and the model has {vocabulary}; they do not belong together"
        )
    blank = blank_id(symbols)
    if family.name.startswith(_BLANK_FIRST) and blank:
        raise ModelDamaged(model, f"tokens.txt has the blank symbol at {blank} instead of 0; it is of another model")


def _vocabulary(family: ModelFamily, headers: Mapping[str, OnnxHeader]) -> int:
    """By the metadata, else by the last axis of a CTC model's output; 0 where neither tells."""
    for header in headers.values():
        if header.metadata.get("vocab_size", "").isdigit():
            return int(header.metadata["vocab_size"])
    model = headers.get("model")
    if model is None or "ctc" not in family.name or not model.outputs or not model.outputs[0].dims:
        return 0
    last = model.outputs[0].dims[-1]
    return last if isinstance(last, int) else 0


def _precision(manifest: ModelManifest, headers: Mapping[str, OnnxHeader], paths: Mapping[str, Path]) -> Precision:
    largest = headers[max(headers, key=lambda role: paths[role].stat().st_size)]
    if largest.kind == "ort":
        return manifest.precision
    if largest.op_types.get("MatMulNBits"):
        return "int4"
    if any(
        largest.op_types.get(op)
        for op in ("MatMulInteger", "DynamicQuantizeLinear", "QLinearMatMul", "DequantizeLinear")
    ):
        return "int8"
    return "fp16" if FLOAT16 in largest.weight_types and FLOAT not in largest.weight_types else "fp32"


def _notes(headers: Mapping[str, OnnxHeader], paths: Mapping[str, Path]) -> list[str]:
    return [
        f"{paths[role].name} is an .ort file (ONNX Runtime {header.ort_version}): its metadata cannot be checked here"
        for role, header in headers.items()
        if header.kind == "ort"
    ]
