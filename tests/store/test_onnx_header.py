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
from edge_asr.store.model_header import FLOAT, FLOAT16
from edge_asr.store.onnx_header import read_header

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


def test_weights_kept_elsewhere_are_named_with_the_bytes_they_need(tmp_path: Path) -> None:
    onnx.save_model(
        small_model(), tmp_path / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    assert read_header(tmp_path / "m.onnx").external_bytes == {"weights.bin": 16}


def test_operators_and_weights_inside_branches_count(tmp_path: Path) -> None:
    branch = helper.make_graph(
        [helper.make_node("Add", ["x", "half"], ["out"])],
        "branch",
        [],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [2])],
        [numpy_helper.from_array(np.ones(2, np.float16), "half")],
    )
    graph = helper.make_graph(
        [helper.make_node("If", ["is_set"], ["y"], then_branch=branch, else_branch=branch)],
        "g",
        [
            helper.make_tensor_value_info("is_set", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    header = read_header(written(tmp_path, model.SerializeToString()))
    assert (dict(header.op_types), header.weight_types) == ({"If": 1, "Add": 2}, frozenset({FLOAT16}))
    assert [tensor.name for tensor in header.outputs] == ["y"]


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
        (b"<?xml version='1.0'?><Error/>", "web page"),
        (b"\x08\x09", "no ONNX graph"),
        (SMALL[: len(SMALL) // 2], "is cut off or damaged"),
        (SMALL[: SMALL.index(b"com.x") - 10], "is cut off or damaged"),
    ],
)
def test_what_is_no_model_is_named_in_one_sentence(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ModelDamaged, match=reason) as caught:
        read_header(written(tmp_path, data))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match="No such file"):
        read_header(tmp_path / "gone.onnx")


def test_a_folder_in_place_of_a_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match="Is a directory"):
        read_header(tmp_path)


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
@given(flip=st.integers(0, len(SMALL) - 1), value=st.integers(0, 255))
def test_a_changed_byte_raises_nothing_else(tmp_path_factory: pytest.TempPathFactory, flip: int, value: int) -> None:
    damaged = bytearray(SMALL)
    damaged[flip] = value
    try:
        read_header(written(tmp_path_factory.getbasetemp(), bytes(damaged)))
    except ModelDamaged:
        return


STARTER_BYTES = STARTER.read_bytes()
END_OF_GRAPH = STARTER_BYTES.rindex(b"log_probs")
"""Behind the graph stand the operator sets; the exporter wrote the metadata after those."""


@settings(max_examples=50, deadline=None)
@given(cut=st.integers(1, END_OF_GRAPH))
def test_a_real_model_cut_off_anywhere_in_its_graph_is_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    with pytest.raises(ModelDamaged, match=r"cut off or damaged|no ONNX graph|not an ONNX model"):
        read_header(written(tmp_path_factory.getbasetemp(), STARTER_BYTES[:cut]))
