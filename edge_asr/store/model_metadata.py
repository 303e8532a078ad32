"""The metadata keys the engine reads: a missing one ends the process, a wrong one fails at the first step."""

from __future__ import annotations

import re
from collections.abc import Mapping

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES, ModelFamily
from edge_asr.store.model_header import OnnxHeader

_FREE_TEXT = ("normalize_type", "framework", "language")
_DECIMALS = ("neg_mean", "inv_stddev")
_MAY_BE_ZERO = ("pad_length", "right_context", "left_context", "pred_rnn_layers", "pred_hidden")
"""In streaming families; the others have token ids and switches among their keys."""

_LISTS = frozenset(
    {
        "encoder_dims",
        "attention_dims",
        "query_head_dims",
        "value_head_dims",
        "num_heads",
        "num_encoder_layers",
        "cnn_module_kernels",
        "left_context_len",
        "sot_sequence",
    }
)
"""Keys with one number for each stack of layers, where a family has several; the others hold one number."""

_WHOLE_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")
_LONGEST_SHOWN = 40

_WINDOWS = (("T", "decode_chunk_len", 1), ("window_size", "chunk_shift", 2))
"""Keys of the frames a step takes and moves on by, and the axis of the features that is time: NeMo's is the last."""

FEATURE_BINS = 80
"""Mel bins that the engine is asked for."""

_LARGEST = 1_000_000
"""No size or id in a model's metadata comes near; the engine allocates what it reads there."""

_STATES: Mapping[str, tuple[tuple[str, int, str, int], ...]] = {
    "nemo-ctc-streaming": tuple(
        (f"cache_last_{kind}", axis, f"cache_last_{kind}_dim{axis}", 0)
        for kind in ("channel", "time")
        for axis in (1, 2, 3)
    ),
    "wenet-ctc-streaming": (
        ("att_cache", 0, "num_blocks", 0),
        ("att_cache", 1, "head", 0),
        ("cnn_cache", 0, "num_blocks", 0),
        ("cnn_cache", 2, "output_size", 0),
        ("cnn_cache", 3, "cnn_module_kernel", 1),
    ),
    "t-one-ctc": (("state", 1, "state_dim", 0),),
}
"""Family to an input that carries state, one of its axes, the key that gives its size, and by how much it is less."""


def check_metadata(
    model: str, family: ModelFamily, headers: Mapping[str, OnnxHeader], names: Mapping[str, str]
) -> None:
    """Check the keys that the family's loader reads.

    Args:
        model: For the sentences.
        family: Which keys.
        headers: Role to header.
        names: Role to file name.

    Raises:
        ModelUnsupported: The files are of another family.
        ModelDamaged: A key is missing or holds no sensible value.
    """
    for role, keys in family.metadata.items():
        header, name = headers[role], names[role]
        if role == "encoder":
            _check_model_type(model, family, name, header)
        _check_present(model, family, name, header, keys)
        for key in keys:
            _check_value(model, family, name, key, header.metadata[key])
        _check_lists(model, name, header, keys)
        _check_window(model, name, header, keys)
        _check_states(model, family, name, header)
        _check_scaling(model, name, header, keys)
        _check_feature_bins(model, family, name, header)


def check_compiled(
    model: str, family: ModelFamily, headers: Mapping[str, OnnxHeader], names: Mapping[str, str]
) -> None:
    """Check ``.rknn`` files: the loader reads metadata from the encoder's only, and the rest from sizes.

    Raises:
        ModelUnsupported: The files are of another family, compiled for different chips, or only some are compiled.
        ModelDamaged: The string that sherpa-onnx reads is missing, or a key of it.
    """
    chips = {header.chip for header in headers.values()}
    if len(chips) > 1:
        found = ", ".join(sorted(chip or "no NPU" for chip in chips))
        raise ModelUnsupported(model, f"its files are compiled for {found}; convert all of them together")
    role = "encoder" if "encoder" in headers else "model"
    header, name, keys = headers[role], names[role], family.metadata.get(role, ())
    if not header.metadata:
        raise ModelDamaged(
            model,
            f"{name} was not exported with sherpa-onnx's metadata (its custom_string); convert the model with "
            "`edge-asr quantize --format rknn`",
        )
    _check_model_type(model, family, name, header)
    _check_present(model, family, name, header, keys)
    for key in keys:
        _check_value(model, family, name, key, header.metadata[key])


def check_sample_rate(
    model: str, headers: Mapping[str, OnnxHeader], names: Mapping[str, str], sample_rate_hz: int
) -> None:
    """Check that a model which names its sampling rate will get it; at another rate it hears nothing right.

    Raises:
        ModelDamaged: The manifest has another rate.
    """
    for role, header in headers.items():
        stated = header.metadata.get("sample_rate", "")
        if _WHOLE_NUMBER.fullmatch(stated) and int(stated) != sample_rate_hz:
            raise ModelDamaged(
                model, f"{names[role]} takes audio at {int(stated)} Hz, and the manifest says {sample_rate_hz} Hz"
            )


def _check_model_type(model: str, family: ModelFamily, name: str, header: OnnxHeader) -> None:
    expected, found = family.model_type, header.metadata.get("model_type")
    if not expected or found == expected:
        return
    types = {entry.model_type: entry.name for entry in FAMILIES.values() if entry.model_type}
    if found is None:
        other = _other_family(family, header)
        hint = f"; it looks like a {other}" if other else f"; a {family.name} has {expected!r}"
        raise ModelDamaged(model, f"{name} lacks the metadata key 'model_type'{hint}")
    hint = f"it is a {types[found]}" if found in types else f"known are {', '.join(sorted(types))}"
    raise ModelUnsupported(model, f"{name} has model_type {found!r} instead of {expected!r}; {hint}")


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
    """The family most of whose keys are here, and all of them; empty if there is none."""
    fitting = [
        (len(keys), candidate.name)
        for candidate in FAMILIES.values()
        for keys in candidate.metadata.values()
        if candidate.name != family.name and len(keys) > 2 and set(keys) <= set(header.metadata)
    ]
    return max(fitting)[1] if fitting else ""


def _check_value(model: str, family: ModelFamily, name: str, key: str, value: str) -> None:
    if key in _FREE_TEXT:
        return
    shown = repr(value[:_LONGEST_SHOWN]) + ("…" if len(value) > _LONGEST_SHOWN else "")
    if key in _DECIMALS:
        if not all(map(_is_decimal, value.split(","))):
            raise ModelDamaged(model, f"{name} has {key} = {shown} in its metadata where numbers belong")
        return
    lowest = 0 if key in _MAY_BE_ZERO or family.kind != "streaming" else 1
    for part in value.split(",") if key in _LISTS else (value,):
        if not _WHOLE_NUMBER.fullmatch(part) or not lowest <= int(part) <= _LARGEST:
            raise ModelDamaged(model, f"{name} has {key} = {shown} in its metadata where whole numbers belong")


def _is_decimal(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_lists(model: str, name: str, header: OnnxHeader, keys: tuple[str, ...]) -> None:
    """The engine reads all of them to the length of one."""
    lengths = {key: header.metadata[key].count(",") + 1 for key in keys if key in _LISTS}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{length} in {key}" for key, length in lengths.items())
        raise ModelDamaged(model, f"{name} has lists of several lengths in its metadata: {listed}")


def _check_window(model: str, name: str, header: OnnxHeader, keys: tuple[str, ...]) -> None:
    """The engine feeds a window of frames a step and moves on by a chunk; the graph must take as many."""
    for window_key, chunk_key, axis in _WINDOWS:
        if window_key not in keys or chunk_key not in keys:
            continue
        window, chunk = int(header.metadata[window_key]), int(header.metadata[chunk_key])
        if window < chunk:
            raise ModelDamaged(model, f"{name} has {window_key} = {window} below {chunk_key} = {chunk} in its metadata")
        frames = _size(header, axis)
        if frames not in (0, window):
            raise ModelDamaged(
                model, f"{name} takes {frames} frames a step, but its metadata says {window_key} = {window}"
            )


def _check_states(model: str, family: ModelFamily, name: str, header: OnnxHeader) -> None:
    """The engine makes the first state by the metadata; the graph must take it."""
    inputs = {tensor.name: tensor.dims for tensor in header.inputs}
    for tensor, axis, key, less in _STATES.get(family.name, ()):
        size = inputs[tensor][axis] if len(inputs.get(tensor, ())) > axis else ""
        stated = int(header.metadata[key])
        if isinstance(size, int) and size not in (0, stated - less):
            raise ModelDamaged(
                model, f"{name} has {key} = {stated} in its metadata, and its {tensor} says {size + less}"
            )


def _check_scaling(model: str, name: str, header: OnnxHeader, keys: tuple[str, ...]) -> None:
    """One mean and one deviation for each of the stacked features."""
    if "lfr_window_size" not in keys:
        return
    expected = int(header.metadata["lfr_window_size"]) * FEATURE_BINS
    for key in _DECIMALS:
        found = header.metadata[key].count(",") + 1
        if found != expected:
            raise ModelDamaged(model, f"{name} has {found} numbers in {key} of its metadata instead of {expected}")


def _check_feature_bins(model: str, family: ModelFamily, name: str, header: OnnxHeader) -> None:
    if family.kind != "streaming" or family.name in ("paraformer-streaming", "t-one-ctc"):
        return  # Paraformer stacks frames; T-one takes samples.
    bins = _size(header, 1 if "nemo" in family.name else 2)
    if bins not in (0, FEATURE_BINS):
        raise ModelUnsupported(model, f"{name} takes {bins} features a frame, and the engine makes {FEATURE_BINS}")


def _size(header: OnnxHeader, axis: int) -> int:
    """Size of an axis of the features, which have three; 0 where it varies or is something else."""
    dims = header.inputs[0].dims if header.inputs else ()
    size = dims[axis] if len(dims) == 3 else 0
    return size if isinstance(size, int) else 0
