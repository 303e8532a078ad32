"""Bias correction: what quantization adds to the mean of a product's output is taken off again.

Rounded weights shift each output channel by a constant on average (Nagel et al. 2019, arXiv:1906.04721, section 4.2);
measured on audio, the shift goes into the bias that is added to the product, at no cost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edge_asr.engines.ort_session import Inputs
from edge_asr.quantize.graph import Prepared, Quantized
from edge_asr.quantize.observe import Channels, observe


def correct_bias(
    prepared: Prepared, quantized: Quantized, nodes: Collection[str], steps: Callable[[], Iterator[Inputs]]
) -> Quantized:
    """Correct the outputs of products.

    Args:
        prepared: The float graph.
        quantized: The one that was made of it; its model is taken over.
        nodes: Products that were quantized.
        steps: Gives the inputs of the graph's runs, from the first one each time.
    """
    outputs = [node.output[0] for node in prepared.model.graph.node if node.name in nodes and node.op_type == "MatMul"]
    before = observe(prepared.model, outputs, steps())
    after = observe(quantized.model, outputs, steps())
    model = quantized.model
    for name in outputs:
        if name in before and name in after:
            _add(model.graph, name, before[name].mean - after[name].mean)
    return replace(quantized, model=model)


def _add(graph: onnx.GraphProto, tensor: str, shift: Channels) -> None:
    """To the bias that is added to the tensor; where there is none, by a sum of its own."""
    weights = {initializer.name: initializer for initializer in graph.initializer}
    readers = [node for node in graph.node if tensor in node.input]
    if len(readers) == 1 and readers[0].op_type == "Add":
        reader = readers[0]
        place = 1 - list(reader.input).index(tensor)
        bias = weights.get(reader.input[place])
        if bias is not None and list(bias.dims) == [len(shift)]:
            values = (numpy_helper.to_array(bias) + shift).astype(np.float32)
            name = f"{tensor}/bias"
            graph.initializer.append(numpy_helper.from_array(values, name))
            reader.input[place] = name
            _drop_unread(graph, bias.name)
            return
    if any(tensor == output.name for output in graph.output):
        return
    position, maker = next((index, node) for index, node in enumerate(graph.node) if tensor in node.output)
    uncorrected = f"{tensor}/uncorrected"
    maker.output[list(maker.output).index(tensor)] = uncorrected
    graph.initializer.append(numpy_helper.from_array(shift.astype(np.float32), f"{tensor}/shift"))
    corrected = helper.make_node("Add", [uncorrected, f"{tensor}/shift"], [tensor], name=f"{tensor}/corrected")
    graph.node.insert(position + 1, corrected)


def _drop_unread(graph: onnx.GraphProto, name: str) -> None:
    if any(name in node.input for node in graph.node):
        return
    for index, initializer in enumerate(graph.initializer):
        if initializer.name == name:
            del graph.initializer[index]
            return
