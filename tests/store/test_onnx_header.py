from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from edge_asr.errors import ModelDamaged
from edge_asr.store.catalogue import catalogue_directory
from edge_asr.store.onnx_header import FLOAT, read_header

STARTER = catalogue_directory() / "starter-en" / "model.int8.onnx"


def small_model(**changes: object) -> onnx.ModelProto:
    weight = numpy_helper.from_array(np.ones((2, 2), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2]),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, [2, 2]),
        ],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 2])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.x", 3)])
    model.ir_version = 9
    helper.set_model_props(model, {"T": "45", "note": "größer"})
    return model


SMALL = small_model().SerializeToString()


def written(folder: Path, data: bytes) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(data)
    return path


def test_a_small_model_is_read_field_by_field(tmp_path: Path) -> None:
    header = read_header(written(tmp_path, SMALL))
    assert (header.kind, header.ir_version, dict(header.opsets)) == ("onnx", 9, {"": 17, "com.x": 3})
    assert dict(header.metadata) == {"T": "45", "note": "größer"}
    assert [(shape.name, shape.elem_type, shape.dims) for shape in header.inputs] == [("x", FLOAT, ("N", 2))]
    assert [shape.name for shape in header.outputs] == ["z"]
    assert dict(header.op_types) == {"MatMul": 1, "Relu": 1}
    assert header.weight_types == {FLOAT}


def test_a_real_model_reads_as_the_onnx_package_reads_it() -> None:
    header, model = read_header(STARTER), onnx.load(STARTER)
    assert header.ir_version == model.ir_version
    assert dict(header.opsets) == {entry.domain: entry.version for entry in model.opset_import}
    assert dict(header.metadata) == {entry.key: entry.value for entry in model.metadata_props}
    assert [shape.name for shape in header.inputs] == [entry.name for entry in model.graph.input]
    assert header.inputs[0].dims == ("N", 45, 80)
    assert sum(header.op_types.values()) == len(model.graph.node)


def test_weights_kept_elsewhere_are_named(tmp_path: Path) -> None:
    onnx.save_model(
        small_model(), tmp_path / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    assert read_header(tmp_path / "m.onnx").external_files == {"weights.bin"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
        (b"<!doctype html><title>404</title>", "web page"),
        (b"\n<HTML>", "web page"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"BZh91AY", "bzip2 archive"),
        (b"\x1f\x8b\x08rest", "gzip archive"),
        (bytes(range(256)) * 10, "not an ONNX model"),
        (b"\x08\x09", "no ONNX graph"),
        (SMALL[:-20], "cut off|no ONNX graph"),
    ],
)
def test_what_is_no_model_is_named_in_one_sentence(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ModelDamaged, match=reason) as caught:
        read_header(written(tmp_path, data))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match="No such file"):
        read_header(tmp_path / "gone.onnx")


def test_an_ort_file_tells_its_version(tmp_path: Path) -> None:
    # Root table at 16 with a vtable before it at 8; field 0 is the string at 24.
    vtable = (6).to_bytes(2, "little") + (8).to_bytes(2, "little") + (4).to_bytes(2, "little") + bytes(2)
    table = (8).to_bytes(4, "little") + (4).to_bytes(4, "little")
    data = (16).to_bytes(4, "little") + b"ORTM" + vtable + table + (1).to_bytes(4, "little") + b"6"
    assert read_header(written(tmp_path, data)).ort_version == "6"


@pytest.mark.parametrize("length", [8, 12, 17, 23])
def test_an_ort_file_that_is_cut_off_is_refused(tmp_path: Path, length: int) -> None:
    vtable = bytes([6, 0, 8, 0, 4, 0, 0, 0])
    data = bytes([16, 0, 0, 0]) + b"ORTM" + vtable + bytes([8, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0]) + b"6"
    with pytest.raises(ModelDamaged):
        read_header(written(tmp_path, data[:length]))


@settings(max_examples=300)
@given(data=st.binary(min_size=1, max_size=300))
def test_arbitrary_bytes_are_refused_or_read_but_never_crash(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = written(tmp_path_factory.getbasetemp(), data)
    try:
        read_header(path)
    except ModelDamaged:
        return


@settings(max_examples=200)
@given(cut=st.integers(1, len(SMALL) - 1), flip=st.integers(0, len(SMALL) - 1), value=st.integers(0, 255))
def test_a_damaged_model_never_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int, value: int
) -> None:
    damaged = bytearray(SMALL)
    damaged[flip] = value
    for data in (SMALL[:cut], bytes(damaged)):
        path = written(tmp_path_factory.getbasetemp(), data)
        try:
            read_header(path)
        except ModelDamaged:
            continue
