"""Whether a tokens file belongs to a model: as many tokens as the model puts out, and the blank where it looks for it.

The engine ends the process when a CTC model's blank has no name or a NeMo transducer's is not the last, and fails in
the middle of a decode when a token has no symbol.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from edge_asr.errors import ModelDamaged
from edge_asr.families import ModelFamily
from edge_asr.store.model_header import OnnxHeader
from edge_asr.store.tokens_file import BLANKS, BYTE_ORDER_MARK, blank_id

_BLANK_FIRST = ("zipformer2-ctc", "wenet-ctc-streaming", "wenet-ctc")
"""CTC families trained with the blank at 0, like icefall's transducers; NeMo's is the last, T-one's too."""

_IN_BASE64 = ("moonshine", "whisper")
"""Families whose symbols are base64, which the engine decodes, ending the process where it cannot."""

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|[= ]")
"""The engine takes a lone ``=``, and a symbol that is empty, for a space."""


def check_vocabulary(
    model: str, family: ModelFamily, headers: Mapping[str, OnnxHeader], name: str, symbols: list[str]
) -> None:
    """Check the symbols against the graphs.

    Args:
        model: For the sentences.
        family: Which rules hold.
        headers: Role to header.
        name: Of the tokens file.
        symbols: By id.

    Raises:
        ModelDamaged: The tokens are of another model.
    """
    _check_count(model, family, headers, name, symbols)
    _check_blank(model, family, name, symbols)
    if family.name in _IN_BASE64:
        _check_base64(model, family, name, symbols)
    if family.name == "paraformer" and "</s>" not in symbols:
        raise ModelDamaged(model, f"{name} has no '</s>', by which the engine finds the end; it is of another model")


def _check_count(
    model: str, family: ModelFamily, headers: Mapping[str, OnnxHeader], name: str, symbols: list[str]
) -> None:
    expected = _vocabulary(family, headers)
    if expected and len(symbols) not in expected:
        raise ModelDamaged(
            model, f"{name} has {len(symbols)} tokens and the model has {max(expected)}; they do not belong together"
        )


def _vocabulary(family: ModelFamily, headers: Mapping[str, OnnxHeader]) -> set[int]:
    """By the last axis of the scores, else by the metadata; empty where neither tells, as with Whisper."""
    scores = headers.get(_scoring_part(family))
    last = scores.outputs[0].dims[-1:] if scores else ()
    if last and isinstance(last[0], int) and last[0] > 0:
        return {last[0]}
    stated = {count for header in headers.values() if (count := _stated(header))}
    with_blank = {count + 1 for count in stated}
    if family.name == "nemo-transducer-streaming":
        return with_blank  # NeMo counts without the blank.
    return stated | with_blank if "nemo" in family.name else stated


def _scoring_part(family: ModelFamily) -> str:
    """The role whose first output is a score for each token, where that is known."""
    if "ctc" in family.name:
        return "model"
    if family.model_type:
        return "joiner"
    return "decoder" if family.name == "moonshine" else ""


def _stated(header: OnnxHeader) -> int:
    value = header.metadata.get("vocab_size", "")
    return int(value) if re.fullmatch(r"[0-9]{1,9}", value) else 0


def _check_blank(model: str, family: ModelFamily, name: str, symbols: list[str]) -> None:
    blank = blank_id(symbols)
    if "ctc" in family.name and blank is None:
        marked = any(symbol.startswith(BYTE_ORDER_MARK) for symbol in symbols)
        why = "; save it without the byte order mark, which hides the first symbol" if marked else ""
        raise ModelDamaged(model, f"{name} has none of {', '.join(BLANKS)}, by which the engine finds the blank{why}")
    if (family.model_type or family.name in _BLANK_FIRST) and blank:
        raise ModelDamaged(model, f"{name} has the blank symbol at {blank} instead of 0; it is of another model")
    if family.name == "nemo-transducer-streaming" and symbols[-1] != "<blk>":
        raise ModelDamaged(model, f"{name} has {symbols[-1]!r} as its last symbol instead of '<blk>'")


def _check_base64(model: str, family: ModelFamily, name: str, symbols: list[str]) -> None:
    wrong = next((number for number, symbol in enumerate(symbols) if not _BASE64.fullmatch(symbol)), None)
    if wrong is not None:
        raise ModelDamaged(
            model, f"{name} has {symbols[wrong][:40]!r} at {wrong}; the symbols of a {family.name} are in base64"
        )
