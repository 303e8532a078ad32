"""A graph as Qualcomm's NPUs take it: fixed sizes, 16-bit activations, 8-bit weights, and compiled ahead of time."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantType
from onnxruntime.quantization import quantize as write_quantized
from onnxruntime.quantization.execution_providers.qnn import get_qnn_qdq_config

from edge_asr.engines.ort_providers import Coverage, OrtRuntime
from edge_asr.engines.ort_session import Graph, Inputs
from edge_asr.errors import QuantizationError
from edge_asr.quantize.graph import Prepared, restore_metadata
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.save import save_model
from edge_asr.quantize.unheard import unheard
from edge_asr.quantize.versions import strip_opset_imports

RECIPE = "a16w8"
"""16 bits an activation, 8 a weight: with 8-bit activations Zipformer's outliers cost words."""


def quantize_for_qnn(fixed: onnx.ModelProto, role: str, prepared: Prepared, steps: RecordedSteps) -> onnx.ModelProto:
    """The graph between ``QuantizeLinear`` and ``DequantizeLinear``, with ranges that were measured.

    Args:
        fixed: Of fixed sizes.
        role: Of the graph, in the recorded steps.
        prepared: What it was made from; its metadata are kept.
        steps: Of the float model, run free.

    Raises:
        QuantizationError: ONNX Runtime cannot.
    """
    with tempfile.TemporaryDirectory(prefix="edge-asr-qnn-") as folder, unheard():
        source, target = Path(folder) / "fixed.onnx", Path(folder) / "quantized.onnx"
        save_model(fixed, source)
        try:
            config = get_qnn_qdq_config(
                source, _Reader(role, steps), activation_type=QuantType.QUInt16, weight_type=QuantType.QUInt8
            )
            write_quantized(str(source), str(target), config)
        except (AssertionError, RuntimeError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise QuantizationError(f"{prepared.name}: ONNX Runtime cannot quantize it: {error}") from error
        model = onnx.load(str(target))
    strip_opset_imports(model)
    restore_metadata(model, prepared.metadata)
    return model


def compile_ahead(path: Path, name: str, options: Mapping[str, str]) -> tuple[Path, Coverage]:
    """Compile a graph for the NPU, beside it.

    Args:
        path: The quantized graph, ``X.onnx``.
        name: For error sentences.
        options: Of the provider: ``soc_model`` or ``htp_arch`` of the device.

    Returns:
        ``X_ctx.onnx``, the binary within, and what of the graph the NPU runs.

    Raises:
        ProviderUnavailable: The plugin is not here, or the NPU does not run every operator.
    """
    target = path.with_name(f"{path.stem}_ctx.onnx")
    target.unlink(missing_ok=True)
    entries = {"ep.context_enable": "1", "ep.context_embed_mode": "1", "ep.context_file_path": str(target)}
    coverage = Graph(path, name, 1, OrtRuntime("QNN", options, entries=entries)).coverage()
    compiled = onnx.load(str(target))
    restore_metadata(compiled, {each.key: each.value for each in onnx.load(str(path)).metadata_props})
    onnx.save(compiled, str(target))
    return target, coverage


class _Reader(CalibrationDataReader):  # type: ignore[misc]
    """Steps from disk; the quantizer reads them several times."""

    def __init__(self, role: str, steps: RecordedSteps) -> None:
        self._role, self._steps = role, steps
        self.rewind()

    def get_next(self) -> Inputs | None:
        """The next step; None after the last."""
        return next(self._left, None)

    def rewind(self) -> None:
        """From the first step again."""
        self._left = self._steps.read(self._role)
