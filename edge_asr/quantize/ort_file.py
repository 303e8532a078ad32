"""Write a graph in ONNX Runtime's own format: it is loaded faster, and runs no faster.

From the basic optimisations only: those further up make choices for the processor they are made on, and such files have
failed elsewhere (onnxruntime#10951, #8440). What made the file is written into it.
"""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path

import onnx
import onnxruntime

from edge_asr.errors import ModelUnsupported
from edge_asr.quantize.save import EXTERNAL_FROM_BYTES, save_model
from edge_asr.quantize.walk import model_bytes

RUNTIME_KEY = "edge_asr.ort.runtime"
PROCESSOR_KEY = "edge_asr.ort.processor"
"""Metadata of an ``.ort`` file: version of the ONNX Runtime and kind of processor that it was made with."""

_ERRORS_ONLY = 3


def save_ort(model: onnx.ModelProto, path: Path) -> Path:
    """Write an ``.ort`` file, whole or not at all.

    Args:
        model: Not changed.
        path: Its ending should be ``.ort``: sherpa-onnx tells formats by their contents, people by their names.

    Raises:
        ModelUnsupported: It is too large for one file.
    """
    if model_bytes(model) >= EXTERNAL_FROM_BYTES:
        raise ModelUnsupported(path.name, "it is too large for the .ort format, which is one file; write .onnx")
    tagged = onnx.ModelProto()
    tagged.CopyFrom(model)
    for key, value in ((RUNTIME_KEY, onnxruntime.__version__), (PROCESSOR_KEY, platform.machine())):
        tagged.metadata_props.add(key=key, value=value)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        source, target = Path(folder) / "graph.onnx", Path(folder) / path.name
        save_model(tagged, source)
        onnxruntime.InferenceSession(str(source), _options(target), providers=["CPUExecutionProvider"])
        target.replace(path)
    return path


def _options(target: Path) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    options.log_severity_level = _ERRORS_ONLY
    options.add_session_config_entry("session.save_model_format", "ORT")
    options.add_session_config_entry("session.disable_prepacking", "1")  # what is prepacked is for this processor
    return options
