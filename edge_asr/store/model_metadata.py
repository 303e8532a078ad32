"""The metadata keys the engine reads: a missing one ends the process, a wrong one fails at the first step."""

from __future__ import annotations

from collections.abc import Mapping

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES, ModelFamily
from edge_asr.store.onnx_header import OnnxHeader

_TEXT_KEYS = ("normalize_type", "neg_mean", "inv_stddev")
"""Keys that hold no integers."""

_MAY_BE_ZERO = ("pad_length", "right_context", "left_context", "pred_rnn_layers", "pred_hidden")


def check_metadata(
    model: str, family: ModelFamily, headers: Mapping[str, OnnxHeader], names: Mapping[str, str]
) -> None:
    """Check the keys that the family's loader reads.

    Args:
        model: For the sentences.
        family: Which keys.
        headers: Role to header; ``.ort`` files are passed over.
        names: Role to file name.

    Raises:
        ModelUnsupported: The files are of another family.
        ModelDamaged: A key is missing or holds no sensible value.
    """
    for role, keys in family.metadata.items():
        header = headers[role]
        if header.kind == "onnx":
            if role == "encoder":
                _check_model_type(model, family, names[role], header)
            _check_present(model, family, names[role], header, keys)
            for key in keys:
                _check_value(model, names[role], key, header.metadata[key])
            _check_window(model, names[role], header)


def _check_model_type(model: str, family: ModelFamily, name: str, header: OnnxHeader) -> None:
    expected = family.model_type
    if not expected:
        return
    found = header.metadata.get("model_type")
    if found is None:
        raise ModelDamaged(model, f"{name} lacks the metadata key 'model_type'; a {family.name} has {expected!r}")
    if found != expected:
        known = ", ".join(sorted({entry.model_type for entry in FAMILIES.values() if entry.model_type}))
        raise ModelUnsupported(model, f"{name} has model_type {found!r} instead of {expected!r} (known: {known})")


def _check_present(model: str, family: ModelFamily, name: str, header: OnnxHeader, keys: tuple[str, ...]) -> None:
    missing = [key for key in keys if key not in header.metadata]
    if not missing:
        return
    listed = ", ".join(repr(key) for key in missing)
    other = _other_family(family, header)
    if other:
        raise ModelUnsupported(model, f"{name} lacks {listed} of a {family.name}; it looks like a {other}")
    raise ModelDamaged(model, f"{name} lacks the metadata {listed} that a {family.name} needs; export it again")


def _other_family(family: ModelFamily, header: OnnxHeader) -> str:
    """The family whose keys this file has all, if there is one."""
    for candidate in FAMILIES.values():
        for keys in candidate.metadata.values():
            if candidate.name != family.name and len(keys) > 2 and set(keys) <= set(header.metadata):
                return candidate.name
    return ""


def _check_value(model: str, name: str, key: str, value: str) -> None:
    if key in _TEXT_KEYS:
        return
    lowest = 0 if key in _MAY_BE_ZERO else 1
    for part in value.split(","):
        if not part.strip().isdigit() or int(part) < lowest:
            raise ModelDamaged(model, f"{name} has {key} = {value!r} in its metadata where whole numbers belong")


def _check_window(model: str, name: str, header: OnnxHeader) -> None:
    """The engine feeds ``T`` frames a step; the graph must take as many."""
    if "T" not in header.metadata or "decode_chunk_len" not in header.metadata:
        return
    window, chunk = int(header.metadata["T"]), int(header.metadata["decode_chunk_len"])
    if window < chunk:
        raise ModelDamaged(model, f"{name} has T = {window} below decode_chunk_len = {chunk} in its metadata")
    dims = header.inputs[0].dims if header.inputs else ()
    frames = dims[1] if len(dims) == 3 else None
    if isinstance(frames, int) and frames and frames != window:
        raise ModelDamaged(model, f"{name} takes {frames} frames a step, but its metadata says T = {window}")
