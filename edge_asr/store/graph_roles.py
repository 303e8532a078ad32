"""Which part of a model a graph is, by its inputs; a decoder given as encoder sends the engine down a wrong path."""

from __future__ import annotations

from collections.abc import Mapping

from edge_asr.errors import ModelDamaged
from edge_asr.families import ModelFamily
from edge_asr.store.onnx_header import INTEGERS, OnnxHeader

TRANSDUCER_PARTS = ("encoder", "decoder", "joiner")


def transducer_part(header: OnnxHeader) -> str:
    """``encoder``, ``decoder`` or ``joiner``.

    A decoder takes tokens, which are integers; a joiner takes two float tensors and nothing else; an encoder takes
    features and states.
    """
    if header.inputs and header.inputs[0].elem_type in INTEGERS:
        return "decoder"
    return "joiner" if len(header.inputs) == 2 and len(header.outputs) == 1 else "encoder"


def check_roles(model: str, family: ModelFamily, headers: Mapping[str, OnnxHeader]) -> None:
    """Check that the parts of a transducer are what their roles say.

    Raises:
        ModelDamaged: Two parts are swapped, or one stands for another.
    """
    if not set(TRANSDUCER_PARTS) <= set(family.roles):
        return
    found = {role: transducer_part(headers[role]) for role in TRANSDUCER_PARTS if headers[role].kind == "onnx"}
    wrong = sorted(role for role, part in found.items() if part != role)
    if len(wrong) == 2 and found[wrong[0]] == wrong[1] and found[wrong[1]] == wrong[0]:
        raise ModelDamaged(model, f"{wrong[0]} and {wrong[1]} look swapped; exchange their files in the manifest")
    for role in wrong:
        raise ModelDamaged(model, f"the file given as {role} looks like a {found[role]}")
