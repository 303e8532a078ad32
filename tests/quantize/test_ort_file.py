from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from edge_asr.engines.ort_streaming import StreamingRunner
from edge_asr.errors import ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.quantize import ort_file
from edge_asr.quantize.graph import apply_assignment, load_graph, prepare_graph
from edge_asr.quantize.ort_file import PROCESSOR_KEY, RUNTIME_KEY, save_ort
from edge_asr.store.onnx_header import read_header
from tests.engines.test_ort_streaming import padded, sherpa_tokens, swelling
from tests.support.tiny_encoders import write_stateful_transducer
from tests.support.tiny_graphs import METADATA, frames, run, two_products


def test_an_ort_file_gives_the_same(tmp_path: Path) -> None:
    prepared = prepare_graph(two_products())
    model = apply_assignment(prepared, "encoder", {"first": "int8", "second": "weight4"}).model
    session = onnxruntime.InferenceSession(str(save_ort(model, tmp_path / "m.ort")))
    assert np.allclose(session.run(None, {"x": frames()})[0], run(model)[0], atol=1e-5)


def test_an_ort_file_keeps_the_metadata_and_says_what_made_it(tmp_path: Path) -> None:
    metadata = read_header(save_ort(two_products(), tmp_path / "m.ort")).metadata
    assert metadata.items() >= METADATA.items()
    assert metadata[RUNTIME_KEY] == onnxruntime.__version__
    assert PROCESSOR_KEY in metadata


def test_nothing_else_is_left_in_the_folder(tmp_path: Path) -> None:
    save_ort(two_products(), tmp_path / "m.ort")
    assert [path.name for path in tmp_path.iterdir()] == ["m.ort"]


def test_the_engine_with_its_older_runtime_decodes_it(tmp_path: Path) -> None:
    files = write_stateful_transducer(tmp_path / "float", "lstm")
    quantized = dict(files)
    for role in ("encoder", "decoder", "joiner"):
        quantized[role] = save_ort(prepare_graph(load_graph(files[role])).model, tmp_path / f"{role}.ort")
    audio = padded(StreamingRunner(files, FAMILIES["lstm-transducer"]), swelling())
    assert sherpa_tokens("lstm-transducer", quantized, audio) == sherpa_tokens("lstm-transducer", files, audio)


def test_a_model_that_needs_two_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ort_file, "EXTERNAL_FROM_BYTES", 1000)
    with pytest.raises(ModelUnsupported, match=r"write \.onnx"):
        save_ort(two_products(), tmp_path / "m.ort")
