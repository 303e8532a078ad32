"""The usual way, as the yardstick: what icefall's export scripts do, in one call of ONNX Runtime."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

from edge_asr.errors import QuantizationError
from edge_asr.quantize.graph import OperatorCounts, Quantized
from edge_asr.quantize.unheard import unheard
from edge_asr.quantize.walk import operator_counts

OPERATORS: Mapping[str, tuple[str, ...]] = {"decoder": ("MatMul", "Gather")}
"""Role to operators; the others have their ``MatMul`` quantized."""


def stock_int8(files: Mapping[str, Path]) -> dict[str, Quantized]:
    """Dynamic int8 with one scale for a whole matrix, ``MatMul`` only, the decoder too.

    Args:
        files: Role to float32 file, as exported; they are not prepared, because nobody does.

    Raises:
        QuantizationError: ONNX Runtime cannot do it; exports have failed there with errors of many kinds
            (onnxruntime#13358, #19997, #20060).
    """
    return {role: _quantized(path, OPERATORS.get(role, ("MatMul",))) for role, path in files.items()}


def _quantized(path: Path, operators: tuple[str, ...]) -> Quantized:
    with tempfile.TemporaryDirectory(prefix="edge-asr-quantize-") as folder, unheard():
        target = Path(folder) / "quantized.onnx"
        try:
            quantize_dynamic(path, target, op_types_to_quantize=list(operators), weight_type=QuantType.QInt8)
        except OSError:
            raise  # the disk, and not the model
        except Exception as error:
            raise QuantizationError(f"{path.name}: ONNX Runtime cannot quantize it: {error}") from error
        model = onnx.load(str(target))
    before = operator_counts(onnx.load(str(path), load_external_data=False))
    after = operator_counts(model)
    return Quantized(model, OperatorCounts(before, after, {"int8": after.get("MatMulInteger", 0)}))
