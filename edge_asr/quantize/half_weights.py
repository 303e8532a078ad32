"""``fp16``: weights stored in half precision, turned to float32 as the model is loaded.

On the processors of small boards ONNX Runtime casts around most of its operators that are given halves (a model all of
halves ran at a quarter of the speed on a Raspberry Pi 5: onnxruntime#25824). So only the file becomes smaller here; the
work, and the memory once loaded, are those of float32.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from edge_asr.quantize.editing import Editor

LARGEST_HALF = float(np.finfo(np.float16).max)


def half_weights(node: onnx.NodeProto, weight: str, editor: Editor) -> Iterator[onnx.NodeProto]:
    """The node, with its weights cast from halves; a table is cast after the look-up, so it stays small in memory."""
    name = editor.add(f"{weight}/half", lambda: _halved(numpy_helper.to_array(editor.weights[weight])))
    copy = onnx.NodeProto.FromString(node.SerializeToString())
    index = list(node.input).index(weight)
    if node.op_type == "Gather":
        output = f"{node.output[0]}/half"
        copy.input[index], copy.output[0] = name, output
        yield copy
        yield helper.make_node("Cast", [output], [node.output[0]], f"{node.name}/float", to=onnx.TensorProto.FLOAT)
        return
    cast, is_first = editor.once_here(f"{weight}/from_half")
    if is_first:
        yield helper.make_node("Cast", [name], [cast], cast, to=onnx.TensorProto.FLOAT)
    copy.input[index] = cast
    yield copy


def fits_half(tensor: onnx.TensorProto) -> bool:
    """Whether no weight is beyond the range of halves."""
    return bool(np.abs(numpy_helper.to_array(tensor)).max(initial=0.0) <= LARGEST_HALF)


def _halved(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float16]:
    return weights.astype(np.float16)
