"""``weight8`` and ``weight4``: ``MatMulNBits``, whose kernel unpacks blocks of weights as it multiplies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import onnx
from onnx import helper

from edge_asr.errors import ConfigurationError
from edge_asr.quantize.blocks import Bits, Integers, Scales, in_blocks, pack, quantize_blocks
from edge_asr.quantize.choices import WeightOptions
from edge_asr.quantize.editing import Editor
from edge_asr.quantize.feedback import Moments, quantize_with_feedback
from edge_asr.quantize.products import Product, matrix_of

DOMAIN = "com.microsoft"
INTEGER_KERNEL = 4
"""``accuracy_level`` with which activations are quantized to 8 bits too, where the processor has a kernel for that."""


def blockwise_product(
    product: Product, editor: Editor, bits: Bits, options: WeightOptions, moments: Mapping[str, Moments]
) -> Iterator[onnx.NodeProto]:
    """Nodes that take the place of the product.

    Raises:
        ConfigurationError: ``gptq`` is asked for, and nothing was measured of the product's inputs.
    """
    if options.algorithm == "gptq" and product.name not in moments:
        raise ConfigurationError(f"gptq needs recordings that reach {product.name!r}; give more, or use k-quant")
    tensor = editor.weights[product.weight]

    @cache
    def quantized() -> tuple[Integers, Scales]:
        matrix = matrix_of(tensor, product.layout)
        if options.algorithm == "gptq":
            return quantize_with_feedback(matrix, moments[product.name], options.block, bits)
        return quantize_blocks(in_blocks(matrix, options.block), bits, options.algorithm)

    base = f"{product.weight}/{product.layout}/{options.algorithm}{bits}"
    integers = editor.add(f"{base}/integers", lambda: pack(quantized()[0], bits))
    scales = editor.add(f"{base}/scales", lambda: quantized()[1])
    rows, columns = tensor.dims[:2] if product.layout == "plain" else reversed(tensor.dims[:2])
    yield from product.before
    yield helper.make_node(
        "MatMulNBits",
        [product.input, integers, scales],
        [product.output],
        f"{product.name}/{options.algorithm}{bits}",
        domain=DOMAIN,
        K=rows,
        N=columns,
        bits=bits,
        block_size=options.block,
        accuracy_level=INTEGER_KERNEL,
    )
    yield from product.after
