"""Which family a directory of model files is, by what the graphs say; names of files only break ties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES, ModelFamily
from edge_asr.manifest import Precision
from edge_asr.store.graph_roles import SILERO_INPUTS, TRANSDUCER_PARTS, attention_part, transducer_part
from edge_asr.store.model_header import OnnxHeader
from edge_asr.store.onnx_header import read_header
from edge_asr.store.precision import precision_of
from edge_asr.store.speaker_model import FRAMEWORKS

_Headers = Mapping[Path, OnnxHeader]
_Found = tuple[ModelFamily, dict[str, Path]] | None

_SINGLE_GRAPH = (
    "zipformer2-ctc",
    "nemo-ctc-streaming",
    "wenet-ctc-streaming",
    "t-one-ctc",
    "sense-voice",
    "paraformer",
)
"""Families of one graph that their metadata tell apart, those with more keys before those with fewer of the same."""

_ORDER: dict[bool, tuple[Precision, ...]] = {
    True: ("int8", "fp32", "mixed", "int4", "fp16"),
    False: ("fp32", "int8", "mixed", "int4", "fp16"),
}
"""Which precision to take first, by whether 8 bits are wanted; the processor computes 16-bit floats slowly."""


def guess_family(directory: Path) -> tuple[str, dict[str, str]]:
    """The family, and role to path relative to ``directory``.

    Where a part is there in several precisions, the 8-bit encoder, joiner or model and the 32-bit decoder are taken.

    Raises:
        ModelUnsupported: The files are of no known family, or parts are missing.
        ModelDamaged: There is no model in the directory, or a file of it cannot be read.
    """
    family, roles = _by_contents(directory, _headers(directory))
    if "tokens" in family.roles:
        tokens = _one(directory, ("tokens.txt", "*tokens.txt"))
        if tokens is None:
            raise ModelDamaged(directory.name, f"there is no tokens.txt in it, which a {family.name} needs")
        roles = {"tokens": tokens, **roles}
    if "bpe" in family.roles:
        vocabulary = _one(directory, ("bpe.vocab", "*.vocab"))
        if vocabulary is None:
            raise ModelDamaged(directory.name, f"there is no bpe.vocab in it, which a {family.name} needs")
        roles = {**roles, "bpe": vocabulary}
    for role, pattern in (("graph", "*.fst"), ("bpe", "bpe.model")):
        found = _one(directory, (pattern,))
        if found is not None and role in family.optional_roles:
            roles[role] = found
    return family.name, {role: path.relative_to(directory).as_posix() for role, path in roles.items()}


def _headers(directory: Path) -> _Headers:
    paths = sorted(path for path in directory.rglob("*") if path.suffix in (".onnx", ".ort"))
    if not paths:
        raise ModelDamaged(directory.name, "there is no .onnx or .ort file in it")
    return {path: _header(directory, path) for path in paths}


def _header(directory: Path, path: Path) -> OnnxHeader:
    try:
        return read_header(path)
    except ModelDamaged as error:
        raise ModelDamaged(directory.name, f"{path.relative_to(directory)} {error.reason}") from error


def _by_contents(directory: Path, headers: _Headers) -> tuple[ModelFamily, dict[str, Path]]:
    guesses: tuple[Callable[[_Headers], _Found], ...] = (
        _transducer,
        _with_attention,
        _single_graph,
        _offline_ctc,
        _silero,
        _punctuation,
        _speaker,
    )
    for guess in guesses:
        found = guess(headers)
        if found is not None:
            return found
    listed = ", ".join(f"{path.name} ({_description(header)})" for path, header in headers.items())
    raise ModelUnsupported(directory.name, f"its files are of no family that is known, or not all are there: {listed}")


def _transducer(headers: _Headers) -> _Found:
    parts = {part: _of_part(headers, transducer_part, part) for part in TRANSDUCER_PARTS}
    for family in FAMILIES.values():
        if not set(TRANSDUCER_PARTS) <= set(family.roles) or not all(parts.values()):
            continue
        encoders = {path: header for path, header in parts["encoder"].items() if _is_encoder_of(family, header)}
        if encoders:
            return family, {
                "encoder": _preferred(encoders),
                "decoder": _preferred(parts["decoder"], wants_int8=False),
                "joiner": _preferred(parts["joiner"]),
            }
    return None


def _is_encoder_of(family: ModelFamily, header: OnnxHeader) -> bool:
    has_keys = set(family.metadata["encoder"]) <= header.metadata.keys()
    return has_keys and (not family.model_type or header.metadata.get("model_type") == family.model_type)


def _with_attention(headers: _Headers) -> _Found:
    """Families of an encoder and a decoder that attends to it."""
    encoders, decoders = (_of_part(headers, attention_part, part) for part in ("encoder", "decoder"))
    for name, belongs in _ENCODER_MARKS.items():
        fitting = {path: header for path, header in encoders.items() if belongs(header)}
        if fitting and decoders:
            return FAMILIES[name], {"encoder": _preferred(fitting), "decoder": _preferred(decoders)}
    return None


def _has_keys_of(name: str) -> Callable[[OnnxHeader], bool]:
    keys = {key for needed in FAMILIES[name].metadata.values() for key in needed}
    return lambda header: keys <= header.metadata.keys()


_ENCODER_MARKS: Mapping[str, Callable[[OnnxHeader], bool]] = {
    "paraformer-streaming": _has_keys_of("paraformer-streaming"),
    "whisper": _has_keys_of("whisper"),
    "moonshine": lambda header: header.inputs[0].name == "input_values",
}


def _single_graph(headers: _Headers) -> _Found:
    for name in _SINGLE_GRAPH:
        belongs = _has_keys_of(name)
        # The encoder of a transducer has the same keys as a CTC model of its kind.
        fitting = {
            path: header
            for path, header in headers.items()
            if belongs(header) and header.outputs[0].name != "encoder_out"
        }
        if fitting:
            return FAMILIES[name], {"model": _preferred(fitting)}
    return None


def _offline_ctc(headers: _Headers) -> _Found:
    """NeMo's and WeNet's, whose keys are the same but for a few that only people read."""
    belongs = _has_keys_of("wenet-ctc")
    fitting = {path: header for path, header in headers.items() if belongs(header)}
    wenet = {path: header for path, header in fitting.items() if _is_wenet(header)}
    nemo = {path: header for path, header in fitting.items() if "normalize_type" in header.metadata}
    if wenet:
        return FAMILIES["wenet-ctc"], {"model": _preferred(wenet)}
    return (FAMILIES["nemo-ctc"], {"model": _preferred(nemo)}) if nemo else None


def _is_wenet(header: OnnxHeader) -> bool:
    return "wenet" in (header.metadata.get("model_type", "") + header.metadata.get("model_author", "")).lower()


def _silero(headers: _Headers) -> _Found:
    fitting = {
        path: header
        for path, header in headers.items()
        if tuple(tensor.name for tensor in header.inputs) == SILERO_INPUTS
    }
    return (FAMILIES["silero-vad"], {"model": _preferred(fitting)}) if fitting else None


def _punctuation(headers: _Headers) -> _Found:
    belongs = _has_keys_of("punctuation-cnn-bilstm")
    fitting = {path: header for path, header in headers.items() if belongs(header)}
    return (FAMILIES["punctuation-cnn-bilstm"], {"model": _preferred(fitting)}) if fitting else None


def _speaker(headers: _Headers) -> _Found:
    for name, frameworks in FRAMEWORKS.items():
        fitting = {
            path: header for path, header in headers.items() if header.metadata.get("framework", "") in frameworks
        }
        if fitting:
            return FAMILIES[name], {"model": _preferred(fitting, wants_int8=False)}
    return None


def _of_part(headers: _Headers, part_of: Callable[[OnnxHeader], str], wanted: str) -> _Headers:
    return {path: header for path, header in headers.items() if header.inputs and part_of(header) == wanted}


def _preferred(headers: _Headers, *, wants_int8: bool = True) -> Path:
    def rank(path: Path) -> tuple[int, bool, str]:
        precision = _ORDER[wants_int8].index(precision_of(headers[path]))
        return precision, ("int8" in path.name) != wants_int8, path.name

    return min(headers, key=rank)


def _one(directory: Path, patterns: tuple[str, ...]) -> Path | None:
    for pattern in patterns:
        found = sorted(directory.rglob(pattern))
        if found:
            return found[0]
    return None


def _description(header: OnnxHeader) -> str:
    kind = header.metadata.get("model_type") or f"inputs {', '.join(tensor.name for tensor in header.inputs[:3])}"
    return f"{kind}, {header.kind}"
