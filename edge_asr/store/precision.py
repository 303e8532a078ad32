"""How many bits the weights of a graph have, by its operators."""

from __future__ import annotations

from edge_asr.manifest import Precision
from edge_asr.store.model_header import FLOAT, FLOAT16, OnnxHeader

_EIGHT_BITS = frozenset(
    {
        "MatMulInteger",
        "ConvInteger",
        "DynamicQuantizeLinear",
        "QLinearMatMul",
        "QLinearConv",
        "DequantizeLinear",
        # What ONNX Runtime makes of them in .ort files.
        "MatMulIntegerToFloat",
        "DynamicQuantizeMatMul",
    }
)


def precision_of(header: OnnxHeader) -> Precision:
    """The precision of most of the work in the graph; of a ``.rknn`` file, which does not say, the usual one."""
    if header.kind == "rknn":
        return "fp16"
    if header.op_types.get("MatMulNBits"):
        return "int4"
    if _EIGHT_BITS & header.op_types.keys():
        return "int8"
    return "fp16" if FLOAT16 in header.weight_types and FLOAT not in header.weight_types else "fp32"
