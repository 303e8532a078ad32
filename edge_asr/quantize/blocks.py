"""Columns of weights in blocks, each with a scale of its own: integers of 4 or 8 bits, symmetric about zero.

Symmetric, because the fast kernels of ARM processors are written for that (onnxruntime#27751), and because a block then
needs no zero point. Three ways to find a block's scale; each rounds to the nearest integer afterwards:

- ``rtn``: the block's largest weight gets the largest integer;
- ``k-quant``: of nineteen scales about that one, each solved again for its integers, the one with the smallest squared
  error (the search that llama.cpp makes for its own formats);
- ``hqq``: alternately takes the outliers out (an ``l_p`` norm with p < 1 in place of squares) and solves for the scale
  (half-quadratic quantization; with the zero point held, it is the scale that is solved for).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from edge_asr.quantize.choices import WeightAlgorithm

Bits = Literal[4, 8]
Blocks = npt.NDArray[np.float32]
"""(columns, blocks, weights of a block)"""
Scales = npt.NDArray[np.float32]
"""(columns, blocks)"""
Integers = npt.NDArray[np.int16]
"""(columns, blocks, weights of a block), -8 to 7 or -128 to 127."""

SMALLEST = np.finfo(np.float32).tiny
"""Scales below it have no inverse: what they would stand for is zero."""

_SEARCHED = np.arange(-9, 10) * np.float32(0.1)
"""How far from the outermost integer the largest weight may come to lie, for 4 bits; a share of it for 8."""
_NORM = 0.7
_SHARPNESS = 10.0
_SHARPER = 1.01
_ROUNDS = 20
"""Parameters of half-quadratic quantization, as published with it."""


def in_blocks(matrix: npt.NDArray[np.float32], block: int) -> Blocks:
    """A matrix (rows, columns) cut into blocks along its rows; the last one is filled up with zeros."""
    rows, columns = matrix.shape
    count = -(-rows // block)
    padded = np.zeros((columns, count * block), np.float32)
    padded[:, :rows] = matrix.T
    return padded.reshape(columns, count, block)


def quantize_blocks(blocks: Blocks, bits: Bits, algorithm: WeightAlgorithm) -> tuple[Integers, Scales]:
    """Integers and scales, with ``blocks ≈ integers * scales``."""
    scales = outermost_scales(blocks, bits)
    if algorithm == "k-quant":
        scales = _searched_scales(blocks, bits, scales)
    elif algorithm == "hqq":
        scales = _half_quadratic_scales(blocks, bits, scales)
    return to_integers(blocks, scales, bits), scales


def outermost_scales(blocks: Blocks, bits: Bits) -> Scales:
    """The scale with which the weight of largest magnitude becomes -8 (-128), the one integer more on that side."""
    outermost = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[..., None], axis=2)[..., 0]
    scales: Scales = (outermost / np.float32(-(1 << (bits - 1)))).astype(np.float32)
    return scales


def to_integers(blocks: Blocks, scales: Scales, bits: Bits) -> Integers:
    """The nearest integers that there are."""
    limit = 1 << (bits - 1)
    inverse = np.divide(1, scales, out=np.zeros_like(scales), where=np.abs(scales) >= SMALLEST)
    integers: Integers = np.clip(np.rint(blocks * inverse[..., None]), -limit, limit - 1).astype(np.int16)
    return integers


def pack(integers: Integers, bits: Bits) -> npt.NDArray[np.uint8]:
    """Bytes (columns, blocks, bytes of a block) as ``MatMulNBits`` reads them: unsigned, the first in the low half."""
    unsigned = (integers + (1 << (bits - 1))).astype(np.uint8)
    if bits == 8:
        return unsigned
    packed: npt.NDArray[np.uint8] = np.bitwise_or(unsigned[..., ::2], unsigned[..., 1::2] << np.uint8(4))
    return packed


def _searched_scales(blocks: Blocks, bits: Bits, start: Scales) -> Scales:
    limit = 1 << (bits - 1)
    best, lowest = start, _squared_error(blocks, to_integers(blocks, start, bits), start)
    for step in _SEARCHED:
        tried = start * np.float32(limit / (limit + step))
        integers = to_integers(blocks, tried, bits)
        solved = _solved_scales(blocks, integers, tried)
        error = _squared_error(blocks, integers, solved)
        best, lowest = np.where(error < lowest, solved, best), np.minimum(error, lowest)
    return best


def _half_quadratic_scales(blocks: Blocks, bits: Bits, start: Scales) -> Scales:
    scales, sharpness = start, _SHARPNESS
    best, lowest = start, np.full(start.shape, np.inf, np.float32)
    for _ in range(_ROUNDS):
        integers = to_integers(blocks, scales, bits)
        residual = blocks - integers * scales[..., None]
        error = np.abs(residual).mean(axis=2)
        best, lowest = np.where(error < lowest, scales, best), np.minimum(error, lowest)
        with np.errstate(divide="ignore"):
            shrunk = np.maximum(np.abs(residual) - np.abs(residual) ** (_NORM - 1) / sharpness, 0)
        outliers = np.sign(residual) * shrunk
        scales = _solved_scales(blocks - outliers, integers, scales)
        sharpness *= _SHARPER
    return best


def _solved_scales(blocks: Blocks, integers: Integers, otherwise: Scales) -> Scales:
    """Least squares; ``otherwise`` where all integers are zero."""
    above, below = (integers * blocks).sum(axis=2), np.square(integers, dtype=np.float32).sum(axis=2)
    solved: Scales = np.divide(above, below, out=otherwise.copy(), where=below > 0).astype(np.float32)
    return solved


def _squared_error(blocks: Blocks, integers: Integers, scales: Scales) -> Scales:
    error: Scales = np.square(blocks - integers * scales[..., None]).sum(axis=2)
    return error
