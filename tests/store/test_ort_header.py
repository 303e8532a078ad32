from __future__ import annotations

from pathlib import Path

import pytest
import sherpa_onnx
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_asr.errors import ModelDamaged
from edge_asr.store.model_header import FLOAT, INT64
from edge_asr.store.onnx_header import read_header
from tests.support.tiny_models import write_nemo_ctc_streaming


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model as ``.onnx``, and as the runtime inside the engine writes it as ``.ort``."""
    folder = tmp_path_factory.mktemp("ort")
    files, target = write_nemo_ctc_streaming(folder), folder / "model.ort"
    options = folder / "session.cfg"
    options.write_text(
        "GraphOptimizationLevel=0\n"
        "SessionConfig.session.save_model_format=ORT\n"
        f"SessionConfig.session.optimized_model_filepath={target}\n"
    )
    sherpa_onnx.OnlineRecognizer.from_nemo_ctc(
        tokens=str(files["tokens"]), model=str(files["model"]), num_threads=1, provider=f"cpu:{options}"
    )
    return files["model"], target


def test_an_ort_file_says_what_the_onnx_file_says(models: tuple[Path, Path]) -> None:
    onnx, ort = map(read_header, models)
    assert ort.kind == "ort"
    assert ort.ort_version.isdigit()
    assert ort.opset == onnx.opset == 17
    assert ort.metadata == onnx.metadata
    assert ort.inputs == onnx.inputs
    assert [(tensor.name, tensor.elem_type) for tensor in ort.outputs] == [
        (tensor.name, tensor.elem_type) for tensor in onnx.outputs
    ]
    assert ort.op_types == onnx.op_types
    assert ort.weight_types == onnx.weight_types == {FLOAT, INT64}


def test_an_ort_file_cut_off_anywhere_is_refused(models: tuple[Path, Path], tmp_path: Path) -> None:
    whole = models[1].read_bytes()
    target = tmp_path / "cut.ort"
    accepted = []
    for length in range(8, len(whole) - 64, 64):
        target.write_bytes(whole[:length])
        try:
            read_header(target)
        except ModelDamaged as error:
            assert error.reason == "is cut off or damaged; fetch it again"
        else:
            accepted.append(length)
    assert accepted == []


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300))
def test_bytes_behind_the_mark_are_refused_or_read_but_never_crash(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    target = tmp_path_factory.getbasetemp() / "random.ort"
    target.write_bytes(data[:4].ljust(4, b"\0") + b"ORTM" + data[4:])
    try:
        read_header(target)
    except ModelDamaged:
        return


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_changed_byte_raises_nothing_else(
    models: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    damaged = bytearray(models[1].read_bytes())
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    target = tmp_path_factory.getbasetemp() / "changed.ort"
    target.write_bytes(damaged)
    try:
        read_header(target)
    except ModelDamaged:
        return
