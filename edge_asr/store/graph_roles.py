"""Which part of a model a graph is, by its inputs; a decoder given as encoder sends the engine down a wrong path."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import ModelFamily
from edge_asr.store.model_header import INT32, INT64, INTEGERS, OnnxHeader

TRANSDUCER_PARTS = ("encoder", "decoder", "joiner")
ATTENTION_PARTS = ("encoder", "decoder")

SILERO_INPUTS = ("input", "state", "sr")
SILERO_OUTPUTS = ("output", "stateN")
"""The one silero network that is read as we feed it; the engine ends the process on others, or on our windows."""

PUNCTUATION_LABELS = {"COMMA": 1, "PERIOD": 2, "QUESTION": 3, "UPPER": 1, "CAP": 2, "MIX_CASE": 3}
"""Metadata keys of a punctuation model to the numbers that the engine writes by, whatever the metadata say."""


def transducer_part(header: OnnxHeader) -> str:
    """``encoder``, ``decoder`` or ``joiner``.

    A decoder takes tokens, which are integers; a joiner takes two float tensors and nothing else; an encoder takes
    features and states.
    """
    if header.inputs and header.inputs[0].elem_type in INTEGERS:
        return "decoder"
    is_pair = len(header.inputs) == 2 and header.inputs[1].elem_type not in INTEGERS
    return "joiner" if is_pair and len(header.outputs) == 1 else "encoder"


def attention_part(header: OnnxHeader) -> str:
    """``encoder`` or ``decoder``.

    A decoder takes tokens first, or what the encoder put out with its own caches; an encoder takes audio or features
    and at most their length or mask.
    """
    takes_tokens = bool(header.inputs) and header.inputs[0].elem_type in INTEGERS
    return "decoder" if takes_tokens or len(header.inputs) > 2 else "encoder"


def check_roles(model: str, family: ModelFamily, headers: Mapping[str, OnnxHeader]) -> None:
    """Check that the parts of a model are what their roles say.

    Raises:
        ModelDamaged: Two parts are swapped, or one stands for another.
        ModelUnsupported: The engine would take a part for one of another family.
    """
    if set(TRANSDUCER_PARTS) <= set(family.roles):
        _check_parts(model, headers, TRANSDUCER_PARTS, transducer_part)
        _check_transducer_decoder(model, family, headers["decoder"])
    elif set(ATTENTION_PARTS) <= set(family.roles):
        _check_parts(model, headers, ATTENTION_PARTS, attention_part)
    elif family.kind == "vad":
        _check_silero(model, headers["model"])
    elif family.kind == "punctuation":
        _check_punctuation(model, headers["model"])


def _check_parts(
    model: str, headers: Mapping[str, OnnxHeader], parts: tuple[str, ...], part_of: Callable[[OnnxHeader], str]
) -> None:
    found = {role: part_of(headers[role]) for role in parts}
    wrong = sorted(role for role, part in found.items() if part != role)
    if len(wrong) == 2 and found[wrong[0]] == wrong[1] and found[wrong[1]] == wrong[0]:
        raise ModelDamaged(model, f"{wrong[0]} and {wrong[1]} look swapped; exchange their files in the manifest")
    for role in wrong:
        raise ModelDamaged(model, f"the file given as {role} looks like the {found[role]}")


def _check_transducer_decoder(model: str, family: ModelFamily, decoder: OnnxHeader) -> None:
    """By the decoder the engine tells icefall's transducers (one output), NeMo's (more), and NeMo's Parakeet."""
    if "streaming_model_type" in decoder.metadata:
        kind = decoder.metadata["streaming_model_type"]
        raise ModelUnsupported(model, f"its decoder says {kind!r}, which is no family that is supported")
    is_nemo = len(decoder.outputs) > 1
    if is_nemo == bool(family.model_type):
        other = "a NeMo transducer" if is_nemo else "an icefall transducer"
        raise ModelUnsupported(model, f"its decoder is that of {other}, not of a {family.name}")
    if family.model_type and decoder.inputs[0].elem_type != INT64:
        raise ModelUnsupported(
            model, "its decoder takes 32-bit tokens and the engine gives 64-bit ones; export it again"
        )


def _check_silero(model: str, network: OnnxHeader) -> None:
    found = tuple(tensor.name for tensor in (*network.inputs, *network.outputs))
    if found != (*SILERO_INPUTS, *SILERO_OUTPUTS):
        raise ModelUnsupported(
            model,
            f"its network has {', '.join(found)} instead of {', '.join((*SILERO_INPUTS, *SILERO_OUTPUTS))}; "
            "use silero_vad_16k_op15.onnx",
        )


def _check_punctuation(model: str, network: OnnxHeader) -> None:
    """What the engine takes for granted without a look: other numbers, and it writes the wrong marks."""
    for key, number in PUNCTUATION_LABELS.items():
        if network.metadata.get(key, str(number)).strip() != str(number):
            raise ModelUnsupported(model, f"its metadata key {key!r} is {network.metadata[key]!r} instead of {number}")
    if len(network.inputs) != 3 or any(tensor.elem_type != INT32 for tensor in network.inputs):
        raise ModelUnsupported(model, "its network does not take three inputs of 32-bit integers")
