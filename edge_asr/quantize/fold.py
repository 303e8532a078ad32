"""Work out what is constant in a graph once, on the workstation, instead of at every load on the board.

ONNX Runtime's basic optimisations do it: they keep to the standard operators and know nothing of the machine they run
on. What they write is a graph like any other, in the same operator set.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnx
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    RuntimeException,
)

from edge_asr.quantize.save import save_model
from edge_asr.quantize.walk import metadata_of, model_bytes

_ERRORS_ONLY = 3
_EXTERNAL_FROM_BYTES = 1_500_000_000
"""Above this the optimised graph keeps its weights in a file of its own: it may not fit into one message."""


def fold_constants(model: onnx.ModelProto) -> tuple[onnx.ModelProto, str]:
    """The optimised graph.

    Returns:
        The graph, and why it is the one given where ONNX Runtime could not optimise it; empty otherwise.
    """
    with tempfile.TemporaryDirectory(prefix="edge-asr-quantize-") as folder:
        source, target = Path(folder) / "source.onnx", Path(folder) / "folded.onnx"
        is_large = model_bytes(model) > _EXTERNAL_FROM_BYTES
        save_model(model, source)
        try:
            onnxruntime.InferenceSession(str(source), _options(target, is_large), providers=["CPUExecutionProvider"])
        except (Fail, InvalidArgument, InvalidGraph, RuntimeException) as error:
            return model, f"constants not folded: ONNX Runtime says {_first_line(error)}"
        folded = onnx.load(str(target))
    missing = metadata_of(model).items() - metadata_of(folded).items()
    for key, value in sorted(missing):
        folded.metadata_props.add(key=key, value=value)
    return folded, ""


def _options(target: Path, is_large: bool) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    options.intra_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    options.add_session_config_entry("session.disable_prepacking", "1")  # nothing is run; it would double the memory
    if is_large:
        options.add_session_config_entry(
            "session.optimized_model_external_initializers_file_name", f"{target.name}.data"
        )
    return options


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
