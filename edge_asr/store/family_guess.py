"""Which family a directory of model files is, by what the graphs say; names of files only break ties."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES, ModelFamily
from edge_asr.store.graph_roles import TRANSDUCER_PARTS, transducer_part
from edge_asr.store.onnx_header import OnnxHeader, read_header

_SINGLE_FILE = ("zipformer2-ctc", "nemo-ctc-streaming", "wenet-ctc-streaming", "t-one-ctc")
"""Streaming families of one graph, told by their metadata."""


def guess_family(directory: Path) -> tuple[str, dict[str, str]]:
    """The family, and role to path relative to ``directory``.

    Where a part is there in several precisions, the 8-bit encoder, joiner or model and the 32-bit decoder are taken.

    Raises:
        ModelUnsupported: The files are of no known family, or parts are missing.
        ModelDamaged: There is no model in the directory, or no file of it can be read.
    """
    headers = _headers(directory)
    tokens = _one(directory, ("tokens.txt", "*tokens.txt"))
    if tokens is None:
        raise ModelDamaged(directory.name, "there is no tokens.txt in it")
    family, parts = _by_contents(directory, headers)
    roles = {"tokens": tokens, **parts}
    for role, pattern in (("graph", "*.fst"), ("bpe", "bpe.model")):
        found = _one(directory, (pattern,))
        if found is not None and role in family.optional_roles:
            roles[role] = found
    return family.name, {role: str(path.relative_to(directory)) for role, path in roles.items()}


def _headers(directory: Path) -> dict[Path, OnnxHeader]:
    paths = sorted(path for path in directory.rglob("*") if path.suffix in (".onnx", ".ort"))
    if not paths:
        raise ModelDamaged(directory.name, "there is no .onnx or .ort file in it")
    return {path: read_header(path) for path in paths}


def _by_contents(directory: Path, headers: Mapping[Path, OnnxHeader]) -> tuple[ModelFamily, dict[str, Path]]:
    for guess in (_transducer, _paraformer_streaming, _single_file, _moonshine, _whisper, _offline_single_file):
        found = guess(headers)
        if found is not None:
            return found
    listed = ", ".join(f"{path.name} ({_kind(header)})" for path, header in headers.items())
    raise ModelUnsupported(directory.name, f"its files are of no family that is known: {listed}")


def _transducer(headers: Mapping[Path, OnnxHeader]) -> tuple[ModelFamily, dict[str, Path]] | None:
    graphs = {path: header for path, header in headers.items() if header.kind == "onnx"}
    parts = {
        part: [path for path, header in graphs.items() if transducer_part(header) == part] for part in TRANSDUCER_PARTS
    }
    for path in _preferred(parts["encoder"], wants_int8=True):
        family = _transducer_family(graphs[path])
        if family is not None and parts["decoder"] and parts["joiner"]:
            return family, {
                "encoder": path,
                "decoder": _preferred(parts["decoder"], wants_int8=False)[0],
                "joiner": _preferred(parts["joiner"], wants_int8=True)[0],
            }
    return None


def _transducer_family(header: OnnxHeader) -> ModelFamily | None:
    for family in FAMILIES.values():
        if family.factory != "from_transducer" or family.kind != "streaming":
            continue
        if not set(family.metadata["encoder"]) <= set(header.metadata):
            continue
        if not family.model_type or header.metadata.get("model_type") == family.model_type:
            return family
    return None


def _paraformer_streaming(headers: Mapping[Path, OnnxHeader]) -> tuple[ModelFamily, dict[str, Path]] | None:
    family = FAMILIES["paraformer-streaming"]
    encoders = [path for path, header in headers.items() if set(family.metadata["encoder"]) <= set(header.metadata)]
    decoders = [path for path in headers if "decoder" in path.name]
    if not encoders or not decoders:
        return None
    chosen = {"encoder": _preferred(encoders, wants_int8=True)[0], "decoder": _preferred(decoders, wants_int8=True)[0]}
    return family, chosen


def _single_file(headers: Mapping[Path, OnnxHeader]) -> tuple[ModelFamily, dict[str, Path]] | None:
    for name in _SINGLE_FILE:
        keys = set(FAMILIES[name].metadata["model"])
        fitting = [path for path, header in headers.items() if keys <= set(header.metadata)]
        if fitting:
            return FAMILIES[name], {"model": _preferred(fitting, wants_int8=True)[0]}
    return None


def _moonshine(headers: Mapping[Path, OnnxHeader]) -> tuple[ModelFamily, dict[str, Path]] | None:
    encoders = [path for path in headers if path.stem == "encoder_model"]
    decoders = [path for path in headers if path.stem == "decoder_model_merged"]
    return (FAMILIES["moonshine"], {"encoder": encoders[0], "decoder": decoders[0]}) if encoders and decoders else None


def _whisper(headers: Mapping[Path, OnnxHeader]) -> tuple[ModelFamily, dict[str, Path]] | None:
    encoders = [path for path, header in headers.items() if "n_audio_layer" in header.metadata]
    decoders = [path for path in headers if "decoder" in path.name]
    if not encoders or not decoders:
        return None
    chosen = {"encoder": _preferred(encoders, wants_int8=True)[0], "decoder": _preferred(decoders, wants_int8=True)[0]}
    return FAMILIES["whisper"], chosen


def _offline_single_file(headers: Mapping[Path, OnnxHeader]) -> tuple[ModelFamily, dict[str, Path]] | None:
    """Non-streaming models of one graph, by keys that only they have."""
    marks = (
        ("sense-voice", {"lfr_window_size", "with_itn"}),
        ("paraformer", {"lfr_window_size", "neg_mean"}),
        ("nemo-ctc", {"vocab_size", "subsampling_factor", "normalize_type"}),
    )
    for name, keys in marks:
        fitting = [path for path, header in headers.items() if keys <= set(header.metadata)]
        if fitting:
            return FAMILIES[name], {"model": _preferred(fitting, wants_int8=True)[0]}
    return None


def _preferred(paths: list[Path], *, wants_int8: bool) -> list[Path]:
    return sorted(paths, key=lambda path: (("int8" in path.name) != wants_int8, "fp16" in path.name, path.name))


def _one(directory: Path, patterns: tuple[str, ...]) -> Path | None:
    for pattern in patterns:
        found = sorted(directory.rglob(pattern))
        if found:
            return found[0]
    return None


def _kind(header: OnnxHeader) -> str:
    return header.metadata.get("model_type") or ("no metadata" if header.kind == "onnx" else "an .ort file")
