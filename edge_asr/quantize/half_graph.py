"""The ``fp16`` recipe: a whole graph computed in half precision, but for what goes in and out."""

from __future__ import annotations

import warnings

import onnx
from onnxruntime.transformers.float16 import convert_float_to_float16

from edge_asr.quantize.unheard import unheard
from edge_asr.quantize.versions import PROTOBUF_LIMIT_BYTES
from edge_asr.quantize.walk import model_bytes


def convert_to_halves(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of the graph in half precision.

    Inputs and outputs stay float32: sherpa-onnx feeds floats, and states of halves would fail at the first step.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    with unheard(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a line for each number too small for a half, which becomes the smallest
        halves: onnx.ModelProto = convert_float_to_float16(
            copy, keep_io_types=True, disable_shape_infer=model_bytes(model) >= PROTOBUF_LIMIT_BYTES
        )
    return halves
