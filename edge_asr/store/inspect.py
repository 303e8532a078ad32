"""Everything that can be known of a model before native code sees it.

The native engine ends the process, or crashes it, on much that is wrong with a model; so each file is looked into
here, and a model that would do so is refused with one sentence. What remains is left to a trial load in a child.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from edge_asr.errors import ModelDamaged, ModelTooNew, ModelUnsupported
from edge_asr.families import CONTEXT, FAMILIES, ModelFamily
from edge_asr.manifest import ModelManifest, Precision
from edge_asr.store.digest import check_file, next_step
from edge_asr.store.graph_roles import check_roles
from edge_asr.store.impostors import what_it_is_instead
from edge_asr.store.model_header import OnnxHeader
from edge_asr.store.model_metadata import check_compiled, check_metadata, check_sample_rate
from edge_asr.store.onnx_header import read_header
from edge_asr.store.precision import precision_of
from edge_asr.store.speaker_model import check_speaker_model
from edge_asr.store.timing import ModelTiming, timing_of
from edge_asr.store.tokens_file import read_tokens
from edge_asr.store.vocabulary import check_vocabulary

MAX_OPSET = 26
MAX_IR_VERSION = 13
"""What the ONNX Runtime inside sherpa-onnx 2.0.1 loads; opset 27 and IR version 14 are refused by it."""

_NO_GRAPH = ("tokens", "graph", "bpe")
"""Roles whose file is no neural network."""

_SCORE = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")

_FST_MARK = b"\xd6\xfd\xb2\x7e"
"""First bytes of an OpenFst file."""


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What inspection found out."""

    family: str
    kind: str
    """``streaming``, ``segment``, ``vad``, ``punctuation`` or ``speaker``."""
    sizes_bytes: Mapping[str, int]
    """Role to size, with the weights that lie beside the graph."""
    precision: Precision
    """By the operators and weights of the largest file."""
    opset: int
    """Highest version of the standard operators among the graphs."""
    ir_version: int
    """Highest version of the file format among them."""
    timing: ModelTiming
    vocabulary: int
    """Tokens; 0 for models without."""
    notes: tuple[str, ...]
    """What is unusual, a sentence each."""

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


def inspect_model(directory: Path, manifest: ModelManifest, *, any_version: bool = False) -> ModelReport:
    """Look into every file of a model.

    Args:
        directory: Where the files are.
        manifest: What they should be.
        any_version: Take operator sets and file versions that no engine loads: they are going to be rewritten.

    Raises:
        ModelDamaged: A file is missing or damaged, or does not fit the others.
        ModelUnsupported: The family is unknown, or the files are of another.
        ModelTooNew: The files need a newer runtime.
    """
    model, family = manifest.name, _family_of(manifest)
    paths = _paths(directory, manifest, family)
    names = {role: path.name for role, path in paths.items()}
    headers = {role: _header(model, path) for role, path in paths.items() if _is_graph(role)}
    for role, header in headers.items():
        if not any_version:
            _check_versions(model, names[role], header)
        _check_external(model, paths[role], header)
    for role in paths.keys() - headers.keys() - {"tokens"}:
        _check_companion(model, role, paths[role])
    if family.kind == "punctuation":
        _check_vocabulary_of_pieces(model, paths["bpe"])
    is_compiled = any(header.kind == "rknn" for header in headers.values())
    if is_compiled:
        check_compiled(model, family, headers, names)
    else:
        check_roles(model, family, headers)
        check_metadata(model, family, headers, names)
    if family.kind == "speaker":
        check_speaker_model(model, family, headers["model"])
    check_sample_rate(model, headers, names, manifest.sample_rate_hz)
    symbols = _tokens(model, paths["tokens"]) if "tokens" in paths else []
    if symbols and not is_compiled:  # a compiled file does not say how many tokens it writes
        check_vocabulary(model, family, headers, names["tokens"], symbols)
    _check_recorded(manifest, paths)
    return _report(family, headers, paths, len(symbols))


def _is_graph(role: str) -> bool:
    return role not in _NO_GRAPH and not role.endswith(CONTEXT)


def _check_recorded(manifest: ModelManifest, paths: Mapping[str, Path]) -> None:
    """Compare with what the manifest recorded, last: the checks before name the damage more plainly.

    Sizes of all files; contents only of the small ones that are no neural network. The native engine believes a
    decoding graph and crashes on a damaged one, while reading hundreds of megabytes at every start would cost seconds.
    """
    for role, file in manifest.files.items():
        recorded = file if role in _NO_GRAPH else msgspec.structs.replace(file, sha256="")
        check_file(manifest.name, recorded, paths[role], next_step(manifest))


def _report(
    family: ModelFamily, headers: Mapping[str, OnnxHeader], paths: Mapping[str, Path], vocabulary: int
) -> ModelReport:
    sizes = {role: path.stat().st_size for role, path in paths.items()}
    for role, header in headers.items():
        sizes[role] += sum((paths[role].parent / name).stat().st_size for name in header.external_bytes)
    return ModelReport(
        family=family.name,
        kind=family.kind,
        sizes_bytes=sizes,
        precision=precision_of(headers[max(headers, key=sizes.__getitem__)]),
        opset=max(header.opset for header in headers.values()),
        ir_version=max(header.ir_version for header in headers.values()),
        timing=timing_of(family, headers),
        vocabulary=vocabulary,
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


def _header(model: str, path: Path) -> OnnxHeader:
    try:
        return read_header(path)
    except ModelDamaged as error:
        raise ModelDamaged(model, f"{path.name} {error.reason}") from error


def is_too_new(header: OnnxHeader) -> bool:
    """Whether the engine refuses the file for its operator set or its version."""
    return header.opset > MAX_OPSET or header.ir_version > MAX_IR_VERSION


def _check_versions(model: str, name: str, header: OnnxHeader) -> None:
    if header.opset > MAX_OPSET:
        raise ModelTooNew(
            model, f"{name} needs ONNX operator set {header.opset}, and the runtime here knows {MAX_OPSET} at most"
        )
    if header.ir_version > MAX_IR_VERSION:
        raise ModelTooNew(
            model,
            f"{name} has ONNX IR version {header.ir_version}, and the runtime here reads {MAX_IR_VERSION} at most",
        )


def _check_external(model: str, path: Path, header: OnnxHeader) -> None:
    for name, needed in sorted(header.external_bytes.items()):
        found = _size_or_none(path.parent / name)
        if found is None:
            raise ModelDamaged(model, f"{path.name} keeps its weights in {name}, which is missing")
        if found < needed:
            raise ModelDamaged(model, f"{name} is cut off: it has {found} bytes, and {path.name} needs {needed}")


def _size_or_none(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except (OSError, ValueError):  # A name that no file can have.
        return None


def _check_companion(model: str, role: str, path: Path) -> None:
    """Files that are neither graphs nor tokens."""
    with path.open("rb") as file:
        start = file.read(64)
    instead = what_it_is_instead(start)
    if instead:
        raise ModelDamaged(model, f"{path.name} {instead}")
    if role == "graph" and not start.startswith(_FST_MARK):
        raise ModelDamaged(model, f"{path.name} is not a decoding graph (an OpenFst file)")


def _check_vocabulary_of_pieces(model: str, path: Path) -> None:
    """One piece and its score a line: the engine ends the process over any other line."""
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        piece, _, score = line.rpartition(b"\t" if b"\t" in line else b" ")
        if not piece or not _SCORE.fullmatch(score.strip()):
            raise ModelDamaged(model, f"line {number} of {path.name} is no piece with its score")


def _tokens(model: str, path: Path) -> list[str]:
    try:
        return read_tokens(path)
    except ModelDamaged as error:
        raise ModelDamaged(model, f"{path.name} {error.reason}") from error


def _notes(headers: Mapping[str, OnnxHeader], paths: Mapping[str, Path]) -> list[str]:
    made_for = [
        f"{paths[role].name} is an .ort file (format {header.ort_version}), laid out for the machine that made it"
        for role, header in headers.items()
        if header.kind == "ort"
    ]
    made_for += [
        f"{paths[role].name} is compiled for {header.chip} by rknn-toolkit2 {header.toolkit}"
        for role, header in headers.items()
        if header.kind == "rknn"
    ]
    beside = [
        f"{paths[role].name} keeps its weights in {', '.join(sorted(header.external_bytes))}"
        for role, header in headers.items()
        if header.external_bytes
    ]
    return made_for + beside
