"""What products took on a board, out of a bench that was run there with ``--profile-ops``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from edge_asr.errors import InputError

if TYPE_CHECKING:
    from edge_asr.bench.document import ProductTime
    from edge_asr.quantize.choices import Choice
    from edge_asr.quantize.costs import MeasuredProduct

_CHOICES: Mapping[str, Choice] = {
    "MatMul": "fp32",
    "Gemm": "fp32",
    "FusedGemm": "fp32",
    "DynamicQuantizeMatMul": "int8",
    "MatMulInteger": "int8",
    "MatMulIntegerToFloat": "int8",
}
_BLOCKS: Mapping[str, Choice] = {"int8": "weight8", "int4": "weight4"}
"""Precision of a model to what its ``MatMulNBits`` are; a mixed model does not say."""
_QUANTIZES_BEFORE = ("MatMulInteger", "MatMulIntegerToFloat")


def read_board_times(path: Path) -> tuple[MeasuredProduct, ...]:
    """Read a bench document.

    Raises:
        InputError: It is none, or was run without ``--profile-ops``.
    """
    from edge_asr.bench.document import read_document

    document = read_document(path)
    precisions = {model.name: model.precision for model in document.models}
    found = [
        one
        for result in document.results
        for one in board_times(result.products, precisions.get(result.configuration.model, ""))
    ]
    if not found:
        raise InputError(
            f"{path}: this bench timed no products; run it on the board with --profile-ops, with the float32 model and "
            "what the recipes int8 and weight4 make of it"
        )
    return tuple(found)


def board_times(products: Sequence[ProductTime], precision: str) -> Iterator[MeasuredProduct]:
    """The times of one model.

    Args:
        products: As the runtime traced them.
        precision: Of the model.
    """
    from edge_asr.quantize.costs import MeasuredProduct

    before_s = {
        (one.rows, one.inputs): one.least_ms / 1000 for one in products if one.operator == "DynamicQuantizeLinear"
    }
    for one in products:
        choice = _BLOCKS.get(precision) if one.operator == "MatMulNBits" else _CHOICES.get(one.operator)
        if choice is None:
            continue
        seconds = one.least_ms / 1000
        if one.operator in _QUANTIZES_BEFORE:
            seconds += before_s.get((one.rows, one.inputs), 0.0)
        yield MeasuredProduct(choice, (one.rows, one.inputs, one.outputs), seconds)
