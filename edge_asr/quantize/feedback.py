"""``gptq``: each row is rounded, and the rows after it take up what that did to the output.

Frantar et al., *GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers*, 2022
(arXiv:2210.17323), over blocks of rows with a symmetric scale each. What a row's rounding does to the output depends on
how the inputs go together, so their second moments must have been measured on audio.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from edge_asr.quantize.blocks import Bits, Integers, Scales, in_blocks, quantize_blocks, to_integers

Moments = npt.NDArray[np.float32]
"""Mean of ``x xᵀ`` over the inputs ``x`` of a product, (rows, rows)."""

DAMPING = 0.01
"""Share of the mean moment that is added to all: inputs that hardly vary would let rows grow without end."""


def quantize_with_feedback(
    matrix: npt.NDArray[np.float32], moments: Moments, block: int, bits: Bits
) -> tuple[Integers, Scales]:
    """Integers and scales as of :func:`~edge_asr.quantize.blocks.quantize_blocks`, for the matrix (rows, columns)."""
    rows, columns = matrix.shape
    inverse = _inverse_factor(moments)
    left = matrix.astype(np.float64)
    integers = np.zeros((columns, -(-rows // block), block), np.int16)
    scales = np.zeros(integers.shape[:2], np.float32)
    for number, start in enumerate(range(0, rows, block)):
        stop = min(start + block, rows)
        scale = quantize_blocks(in_blocks(left[start:stop].astype(np.float32), block), bits, "k-quant")[1]
        scales[:, number] = scale[:, 0]
        errors = np.empty((stop - start, columns))
        for row in range(start, stop):
            chosen = to_integers(left[row].astype(np.float32)[:, None, None], scale, bits)[:, 0, 0]
            integers[:, number, row - start] = chosen
            errors[row - start] = (left[row] - chosen * scale[:, 0]) / inverse[row, row]
            left[row + 1 : stop] -= np.outer(inverse[row, row + 1 : stop], errors[row - start])
        # The rows of later blocks take up the errors of a whole block at once: one product in place of many.
        left[stop:] -= inverse[start:stop, stop:].T @ errors
    return integers, scales


def _inverse_factor(moments: Moments) -> npt.NDArray[np.float64]:
    """Upper triangular factor of the inverse of the damped moments."""
    damped = moments.astype(np.float64)
    mean = float(np.trace(damped)) / len(damped)
    damped[np.diag_indices_from(damped)] += DAMPING * mean + np.finfo(np.float32).tiny
    factor: npt.NDArray[np.float64] = np.linalg.cholesky(np.linalg.inv(damped)).T
    return factor
