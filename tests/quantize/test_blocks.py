from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

from edge_asr.quantize.blocks import Bits, in_blocks, pack, quantize_blocks
from edge_asr.quantize.choices import WeightAlgorithm
from edge_asr.quantize.integer_product import quantize_columns
from edge_asr.quantize.unheard import unheard
from tests.support.tiny_graphs import graph_of, weights

HEAVY = (np.random.default_rng(0).standard_t(3, (256, 64)) * 0.1).astype(np.float32)
"""Weights with outliers, as trained ones have."""


def error(algorithm: WeightAlgorithm, bits: Bits = 4, power: float = 2) -> float:
    blocks = in_blocks(HEAVY, 32)
    integers, scales = quantize_blocks(blocks, bits, algorithm)
    return float((np.abs(blocks - integers * scales[..., None]) ** power).mean())


def test_rows_are_cut_and_filled_up() -> None:
    blocks = in_blocks(weights(50, 3), 32)
    assert blocks.shape == (3, 2, 32)
    assert not blocks[:, 1, 18:].any()
    assert np.array_equal(blocks[1, 1, :18], weights(50, 3)[32:, 1])


@pytest.mark.parametrize("bits", [4, 8])
def test_rounding_to_the_nearest_gives_the_bytes_of_onnx_runtime(bits: Bits) -> None:
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    model = graph_of([helper.make_node("MatMul", ["x", "a"], ["y"], "p")], {"a": HEAVY}, inputs={"x": [1, 256]})
    with unheard():
        quantizer = MatMulNBitsQuantizer(
            model, algo_config=DefaultWeightOnlyQuantConfig(block_size=32, is_symmetric=True, bits=bits)
        )
        quantizer.process()
    theirs = {tensor.name: numpy_helper.to_array(tensor) for tensor in quantizer.model.model.graph.initializer}
    integers, scales = quantize_blocks(in_blocks(HEAVY, 32), bits, "rtn")
    assert np.array_equal(scales, theirs["a_scales"])
    assert np.mean(pack(integers, bits) != theirs[f"a_Q{bits}"]) < 0.001, "halves are rounded to even here, up there"


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("algorithm", ["rtn", "k-quant", "hqq"])
def test_a_block_of_zeros_stays_zero(algorithm: WeightAlgorithm, bits: Bits) -> None:
    integers, scales = quantize_blocks(np.zeros((2, 1, 32), np.float32), bits, algorithm)
    assert not (integers * scales[..., None]).any()
    assert np.isfinite(scales).all()


def test_the_search_for_scales_lowers_the_squared_error() -> None:
    assert error("k-quant") < 0.95 * error("rtn")


def test_half_quadratic_scales_lower_the_absolute_error() -> None:
    assert error("hqq", power=1) < error("rtn", power=1)


def test_eight_bits_are_finer_than_four() -> None:
    assert error("rtn", bits=8) < error("rtn", bits=4) / 100


def test_the_first_of_two_weights_lies_in_the_low_half_of_a_byte() -> None:
    integers = np.array([[[-8, 7, 0, 1]]], np.int16)
    assert pack(integers, 4).tolist() == [[[0xF0, 0x98]]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("algorithm", ["rtn", "k-quant", "hqq"])
@pytest.mark.parametrize("size", [0.0, 1e-45, 1e-40])
def test_blocks_of_hardly_anything_are_zeros(algorithm: WeightAlgorithm, size: float) -> None:
    blocks = np.full((1, 1, 32), size, np.float32)
    blocks[0, 0, ::2] = 0.0
    integers, scales = quantize_blocks(blocks, 4, algorithm)
    assert not (integers * scales[..., None]).any()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [0.0, 1e-45, 1e-40])
def test_columns_of_hardly_anything_are_zeros(size: float) -> None:
    integers, scales = quantize_columns(np.array([[size, 1.0], [0.0, -2.0]], np.float32))
    assert integers[:, 0].tolist() == [0, 0]
    assert integers[:, 1].tolist() == [64, -127]
    assert np.isfinite(scales).all()
