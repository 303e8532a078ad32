"""An encoder-decoder model in the shape of Moonshine, with random weights: there is no float original to quantize.

::

    python tools/shape_moonshine.py OUT [--seed N]

``OUT`` is a directory with a manifest, as ``edge-asr transcribe -m`` and ``edge-asr models import`` take it, and holds
what sherpa-onnx loads. Names, inputs, outputs and sizes are those of moonshine-tiny-en: an encoder that hears a whole
stretch, and a merged decoder, whose ``If`` runs one branch for the first token and another, with what it remembers, for
all others. Both branches read the same weights. What it writes is nonsense.
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_asr.manifest import MANIFEST_FILE, ModelFile, ModelManifest, ModelSource, format_manifest
from edge_asr.store.digest import sha256_of

OPSET = 17
FRAME_SAMPLES = 384
"""24 ms."""
SPECIAL_TOKENS = ("<unk>", "<s>", "</s>")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the network; by default those of moonshine-tiny-en."""

    width: int = 288
    layers: int = 6
    heads: int = 8
    feedforward: int = 1152
    vocabulary: int = 32_768

    @property
    def head(self) -> int:
        """Width of one head."""
        return self.width // self.heads


def main() -> None:
    """Make the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="made if missing")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write_moonshine(options.out, Sizes(), options.seed)
    print(f"{options.out}: {sum(path.stat().st_size for path in options.out.iterdir()) / 1e6:.0f} MB")


def write_moonshine(directory: Path, sizes: Sizes, seed: int = 0) -> ModelManifest:
    """Write graphs, tokens and manifest; the same seed gives the same weights."""
    directory.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(seed)
    onnx.save(encoder(sizes, generator), directory / "encoder.onnx")
    onnx.save(decoder(sizes, generator), directory / "decoder.onnx")
    words = [*SPECIAL_TOKENS, *(f"▁w{number}" for number in range(3, sizes.vocabulary))]
    lines = (f"{base64.b64encode(word.encode()).decode()} {number}\n" for number, word in enumerate(words))
    (directory / "tokens.txt").write_text("".join(lines))
    paths = {role: directory / name for role, name in FILES.items()}
    manifest = ModelManifest(
        name=directory.name,
        version=str(seed),
        family="moonshine",
        languages=("und",),
        sample_rate_hz=16_000,
        chunk_ms=0,
        precision="fp32",
        files={role: _described(path) for role, path in paths.items()},
        licence="Apache-2.0",
        source=ModelSource(kind="local"),
        summary="Random weights in the shape of moonshine-tiny-en",
    )
    (directory / MANIFEST_FILE).write_text(format_manifest(manifest), encoding="utf-8")
    return manifest


def _described(path: Path) -> ModelFile:
    return ModelFile(path=path.name, size_bytes=path.stat().st_size, sha256=sha256_of(path))


FILES = {"tokens": "tokens.txt", "encoder": "encoder.onnx", "decoder": "decoder.onnx"}


@dataclass(slots=True)
class Weights:
    """Initializers of a model, made when they are first named."""

    sizes: Sizes
    generator: np.random.Generator
    made: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def matrix(self, name: str, *shape: int) -> str:
        """Random numbers that keep the size of what they multiply."""
        if name not in self.made:
            values = self.generator.standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))
            self.made[name] = numpy_helper.from_array(values.astype(np.float32), name)
        return name

    def numbers(self, name: str, values: Sequence[float], kind: type[np.generic]) -> str:
        """Constants."""
        if name not in self.made:
            self.made[name] = numpy_helper.from_array(np.asarray(values, kind), name)
        return name


class Writer:
    """Writes the nodes of one graph, whose names begin alike."""

    def __init__(self, weights: Weights, prefix: str) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self._weights = weights
        self._sizes = weights.sizes
        self._prefix = prefix

    def node(self, operator: str, name: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as ONNX takes them
        """One node; its output has its name."""
        output = self._prefix + name
        self.nodes.append(helper.make_node(operator, list(inputs), [output], output, **attributes))
        return output

    def product(self, name: str, source: str, rows: int, columns: int) -> str:
        """With weights that all graphs of the model share by name."""
        return self.node("MatMul", name, source, self._weights.matrix(f"{name}.weight", rows, columns))

    def normal(self, name: str, source: str) -> str:
        """Layer normalisation."""
        ones = self._weights.numbers("ones", [1.0] * self._sizes.width, np.float32)
        return self.node("LayerNormalization", name, source, ones)

    def heads(self, name: str, source: str) -> str:
        """(batch, places, width) to (batch, heads, places, width of a head)."""
        shape = self._weights.numbers("split", [0, 0, self._sizes.heads, self._sizes.head], np.int64)
        return self.node("Transpose", name, self.node("Reshape", f"{name}/split", source, shape), perm=[0, 2, 1, 3])

    def attention(self, name: str, x: str, keys: str, values: str) -> str:
        """What the places of ``x`` take from the others, added to it."""
        width = self._sizes.width
        queries = self.heads(f"{name}/q", self.product(f"{name}/query", x, width, width))
        turned = self.node("Transpose", f"{name}/k", keys, perm=[0, 1, 3, 2])
        scale = self._weights.numbers("scale", [self._sizes.head**-0.5], np.float32)
        scores = self.node("Mul", f"{name}/scores", self.node("MatMul", f"{name}/qk", queries, turned), scale)
        taken = self.node("MatMul", f"{name}/taken", self.node("Softmax", f"{name}/shares", scores), values)
        shape = self._weights.numbers("join", [0, 0, width], np.int64)
        turned_back = self.node("Transpose", f"{name}/back", taken, perm=[0, 2, 1, 3])
        joined = self.node("Reshape", f"{name}/joined", turned_back, shape)
        return self.node("Add", f"{name}/sum", x, self.product(f"{name}/out", joined, width, width))

    def keys_and_values(self, name: str, source: str) -> tuple[str, str]:
        """Of each place, by heads."""
        width = self._sizes.width
        keys = self.heads(f"{name}/key_heads", self.product(f"{name}/key", source, width, width))
        return keys, self.heads(f"{name}/value_heads", self.product(f"{name}/value", source, width, width))

    def feedforward(self, name: str, x: str) -> str:
        """Two products, added to what they got."""
        width, inner = self._sizes.width, self._sizes.feedforward
        wide = self.node(
            "Relu", f"{name}/relu", self.product(f"{name}/wide", self.normal(f"{name}/n", x), width, inner)
        )
        return self.node("Add", f"{name}/sum", x, self.product(f"{name}/narrow", wide, inner, width))


def encoder(sizes: Sizes, generator: np.random.Generator) -> onnx.ModelProto:
    """Samples (batch, n) to frames (batch, n / 384, width)."""
    weights = Weights(sizes, generator)
    writer = Writer(weights, "")
    channel = writer.node("Unsqueeze", "channel", "input_values", weights.numbers("one", [1], np.int64))
    kernel = weights.matrix("conv.weight", sizes.width, 1, FRAME_SAMPLES)
    frames = writer.node("Conv", "conv", channel, kernel, strides=[FRAME_SAMPLES])
    x = writer.node("Transpose", "frames", frames, perm=[0, 2, 1])
    for layer in range(sizes.layers):
        normal = writer.normal(f"{layer}/normal", x)
        x = writer.attention(f"{layer}/self", normal, *writer.keys_and_values(f"{layer}/self", normal))
        x = writer.feedforward(f"{layer}/feedforward", x)
    writer.node("LayerNormalization", "last_hidden_state", x, weights.numbers("ones", [1.0] * sizes.width, np.float32))
    return _model(
        writer.nodes,
        [
            _value("input_values", "batch", "samples"),
            _value("attention_mask", "batch", "samples", kind=TensorProto.INT64),
        ],
        [_value("last_hidden_state", "batch", "frames", sizes.width)],
        weights,
    )


def decoder(sizes: Sizes, generator: np.random.Generator) -> onnx.ModelProto:
    """The merged decoder: logits of the next token, and what is remembered for the one after it."""
    weights = Weights(sizes, generator)
    branches = {
        "then_branch": _branch(weights, "cached", is_cached=True),
        "else_branch": _branch(weights, "first", is_cached=False),
    }
    outputs = [_value("logits", "batch", "tokens", sizes.vocabulary), *_memory(sizes, "present", "all_tokens")]
    choice = helper.make_node("If", ["use_cache_branch"], [value.name for value in outputs], "branch", **branches)
    inputs = [
        _value("encoder_attention_mask", "batch", "samples", kind=TensorProto.INT64),
        _value("input_ids", "batch", "tokens", kind=TensorProto.INT64),
        _value("encoder_hidden_states", "batch", "frames", sizes.width),
        *_memory(sizes, "past_key_values", "past_tokens"),
        _value("use_cache_branch", 1, kind=TensorProto.BOOL),
    ]
    return _model([choice], inputs, outputs, weights)


def _branch(weights: Weights, name: str, *, is_cached: bool) -> onnx.GraphProto:
    sizes, writer = weights.sizes, Writer(weights, f"{name}/")
    table = weights.matrix("embedding.weight", sizes.vocabulary, sizes.width)
    x = writer.normal("embedded", writer.node("Gather", "embedding", table, "input_ids"))
    remembered: list[str] = []
    for layer in range(sizes.layers):
        past = f"past_key_values.{layer}"
        keys, values = writer.keys_and_values(f"{layer}/self", x)
        if is_cached:
            keys = writer.node("Concat", f"{layer}/keys", f"{past}.decoder.key", keys, axis=2)
            values = writer.node("Concat", f"{layer}/values", f"{past}.decoder.value", values, axis=2)
        x = writer.attention(f"{layer}/self", x, keys, values)
        if is_cached:
            heard = f"{past}.encoder.key", f"{past}.encoder.value"
        else:
            heard = writer.keys_and_values(f"{layer}/cross", "encoder_hidden_states")
        x = writer.attention(f"{layer}/cross", writer.normal(f"{layer}/normal", x), *heard)
        x = writer.feedforward(f"{layer}/feedforward", x)
        remembered += [keys, values, *heard]
    logits = writer.product("head", writer.normal("last", x), sizes.width, sizes.vocabulary)
    kept = [writer.node("Identity", f"kept/{number}", source) for number, source in enumerate(remembered)]
    outputs = [_value(logits, "batch", "tokens", sizes.vocabulary)]
    outputs += [_value(one, "batch", sizes.heads, None, sizes.head) for one in kept]
    return helper.make_graph(writer.nodes, name, [], outputs)


def _memory(sizes: Sizes, name: str, tokens: str) -> list[onnx.ValueInfoProto]:
    """Keys and values of each layer: of the tokens so far, and of the frames."""
    return [
        _value(f"{name}.{layer}.{part}.{kind}", "batch", sizes.heads, places, sizes.head)
        for layer in range(sizes.layers)
        for part, places in (("decoder", tokens), ("encoder", "frames"))
        for kind in ("key", "value")
    ]


def _value(name: str, *shape: int | str | None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, list(shape))


def _model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Weights,
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "moonshine", inputs, outputs, list(weights.made.values()))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


if __name__ == "__main__":
    main()
