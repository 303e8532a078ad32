"""Write a model file whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import onnx

from edge_asr.errors import DiskFull
from edge_asr.quantize.walk import model_bytes, without_weights

EXTERNAL_FROM_BYTES = 2_000_000_000
"""A graph of this size keeps its weights in a file beside it; protobuf messages end at 2 GiB."""
_LEAST_EXTERNAL_BYTES = 1024


def save_model(model: onnx.ModelProto, path: Path, *, external_from_bytes: int = EXTERNAL_FROM_BYTES) -> list[Path]:
    """Write an ONNX file, and beside it, in ``NAME.data``, the weights of a large one.

    What was there before is replaced at the end, by renaming; whoever reads meanwhile sees the old files.

    Args:
        model: Not changed.
        path: Of the graph.
        external_from_bytes: Size from which weights go into their own file.

    Returns:
        The files written, the graph first.

    Raises:
        DiskFull: It does not fit; what was there before is still there.
    """
    data = path.with_name(f"{path.name}.data")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            graph, weights = Path(folder) / path.name, Path(folder) / data.name
            if model_bytes(model) < external_from_bytes:
                _write(graph, model.SerializeToString(deterministic=True))
                written = [(graph, path)]
            else:
                _write_external(model, graph, weights)
                written = [(weights, data), (graph, path)]
            for source, target in written:
                source.replace(target)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(path.parent, model_bytes(model)) from error
        raise
    return [target for _, target in reversed(written)]


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _write_external(model: onnx.ModelProto, graph: Path, weights: Path) -> None:
    """Move the weights out one at a time; the copy of the graph that names their places never holds them."""
    skeleton = without_weights(model)
    with weights.open("wb") as file:
        for tensor in model.graph.initializer:
            _move_out(tensor, skeleton.graph.initializer.add(), file.tell(), weights.name)
            if len(tensor.raw_data) >= _LEAST_EXTERNAL_BYTES:
                file.write(tensor.raw_data)
        file.flush()
        os.fsync(file.fileno())
    _write(graph, skeleton.SerializeToString(deterministic=True))


def _move_out(tensor: onnx.TensorProto, copy: onnx.TensorProto, offset: int, file_name: str) -> None:
    if len(tensor.raw_data) < _LEAST_EXTERNAL_BYTES:
        copy.CopyFrom(tensor)
        return
    copy.name, copy.data_type = tensor.name, tensor.data_type
    copy.dims.extend(tensor.dims)
    copy.data_location = onnx.TensorProto.EXTERNAL
    for key, value in {"location": file_name, "offset": offset, "length": len(tensor.raw_data)}.items():
        copy.external_data.add(key=key, value=str(value))
