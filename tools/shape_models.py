"""Streaming models of real size with random weights, for measuring where published models cannot be fetched.

::

    tools/shape_models OUT [--shape NAME]... [--precision fp32|int8]... [--seed N]

Each ``OUT/NAME-PRECISION`` is a directory with a manifest, as ``edge-asr transcribe -m`` and ``edge-asr models import``
take it, and holds what sherpa-onnx loads. Layers, sizes, chunk and metadata are those of published models, so time and
memory are theirs too. The text is nonsense, but as much of it comes out as a trained model would write: the blank is
made likely enough for that on a bundled recording, because every other token costs a run of the decoder.
"""

from __future__ import annotations

import os

os.environ["K2_ONNX_EXPORT"] = "1"  # before the wheel's modules are loaded: no torch.compile while tracing

import argparse
import copy
import hashlib
import logging
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx
import soundfile
import torch
from features import filter_banks
from model import onnx_swoosh
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn
from zipformer.modules.scaling import ScaledLinear  # model.py has made the wheel's layers importable
from zipformer.modules.subsampling import Conv2dSubsampling
from zipformer.modules.zipformer import Zipformer

from edge_asr.manifest import MANIFEST_FILE, ModelFile, ModelManifest, ModelSource, Precision, format_manifest

FEATURES = 80
CHUNK_FRAMES = 16
"""Encoder frames of 20 ms for each step: 320 ms."""
LEFT_CONTEXT_FRAMES = 128
CHUNK_FEATURES = 2 * CHUNK_FRAMES
WINDOW_FEATURES = CHUNK_FEATURES + 7 + 2 * 3
"""What a step looks at: the convolutions need 13 feature frames beyond the chunk."""
VOCABULARY = 500
TOKENS_PER_FRAME = 0.15
"""Share of the frames of 40 ms whose best token is not the blank; read English has about 4 pieces a second."""
SPEECH = Path(__file__).parents[1] / "edge_asr" / "clips" / "austen-0870.flac"
HALVINGS = 20
CHECK = Path(__file__).with_name("shape_models_check.py")
PREDICTOR_DIM = 512
CONTEXT_TOKENS = 2
OPSET = 13

STATES_PER_LAYER = ("key", "nonlin_attn", "val1", "val2", "conv1", "conv2")
BATCH_AXIS = {"key": 1, "nonlin_attn": 1, "val1": 1, "val2": 1, "conv1": 0, "conv2": 0}


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of one published model."""

    name: str
    family: str
    like: str
    """The model whose sizes these are."""
    layers: tuple[int, ...]
    widths: tuple[int, ...]
    feedforward: tuple[int, ...]
    heads: tuple[int, ...]
    unmasked: tuple[int, ...]


_LARGE = {
    "layers": (2, 2, 3, 4, 3, 2),
    "widths": (192, 256, 384, 512, 384, 256),
    "feedforward": (512, 768, 1024, 1536, 1024, 768),
    "heads": (4, 4, 4, 8, 4, 4),
    "unmasked": (192, 192, 256, 256, 256, 192),
}
_SMALL = {
    "layers": (2,) * 6,
    "widths": (192, *(256,) * 5),
    "feedforward": (512, *(768,) * 5),
    "heads": (4, 4, 4, 8, 4, 4),
    "unmasked": (192,) * 6,
}
SHAPES = {
    shape.name: shape
    for shape in (
        Shape("zipformer2-66m", "zipformer2-transducer", "sherpa-onnx-streaming-zipformer-en-2023-06-26", **_LARGE),
        Shape("zipformer2-23m", "zipformer2-transducer", "icefall's small streaming zipformer2 transducer", **_SMALL),
        Shape("zipformer2-ctc-22m", "zipformer2-ctc", "sherpa-onnx-streaming-zipformer-ctc-small-2024-03-18", **_SMALL),
    )
}


class StreamingEncoder(nn.Module):
    """One step: a window of features and the caches in; what ``head`` makes of the frames, and new caches out."""

    def __init__(self, shape: Shape, head: nn.Module) -> None:
        super().__init__()
        self.embed = Conv2dSubsampling(FEATURES, shape.widths[0])
        self.encoder = Zipformer(
            output_downsampling_factor=2,
            downsampling_factor=(1, 2, 4, 8, 4, 2),
            encoder_dim=shape.widths,
            num_encoder_layers=shape.layers,
            encoder_unmasked_dim=shape.unmasked,
            query_head_dim=32,
            pos_head_dim=4,
            value_head_dim=12,
            num_heads=shape.heads,
            feedforward_dim=shape.feedforward,
            cnn_module_kernel=(31, 31, 15, 15, 15, 31),
            pos_dim=48,
            causal=True,
            chunk_size=(CHUNK_FRAMES,),
            left_context_frames=(LEFT_CONTEXT_FRAMES,),
        )
        self.head = head

    def forward(self, x: torch.Tensor, states: list[torch.Tensor]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Features (batch, window, 80) to (batch, frames of 40 ms, the head's width)."""
        batch = x.shape[0]
        frames = torch.full((batch,), WINDOW_FEATURES, dtype=torch.int64)
        x, frames, left_pad = self.embed.streaming_forward(x, frames, states[-2])
        seen = states[-1]
        # Caches that nothing has filled yet are masked; the newest is rightmost.
        unfilled = (seen.unsqueeze(1) <= torch.arange(LEFT_CONTEXT_FRAMES).expand(batch, LEFT_CONTEXT_FRAMES)).flip(1)
        mask = torch.cat([unfilled, torch.zeros(batch, CHUNK_FRAMES, dtype=torch.bool)], dim=1)
        out, _, caches = self.encoder.streaming_forward(
            x=x.permute(1, 0, 2), x_lens=frames, states=states[:-2], src_key_padding_mask=mask
        )
        return self.head(out.permute(1, 0, 2)), [*caches, left_pad, seen + frames]

    def initial_states(self) -> list[torch.Tensor]:
        """Empty caches of one stream."""
        return [*self.encoder.get_init_states(1), self.embed.get_init_states(1), torch.zeros(1, dtype=torch.int64)]


class Predictor(nn.Module):
    """The stateless decoder of a transducer: the last tokens (batch, 2) in, (batch, 512) out."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, PREDICTOR_DIM)
        self.conv = nn.Conv1d(PREDICTOR_DIM, PREDICTOR_DIM, CONTEXT_TOKENS, groups=PREDICTOR_DIM // 4, bias=False)
        self.projection = ScaledLinear(PREDICTOR_DIM, PREDICTOR_DIM, initial_scale=0.25)

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        embedded = self.embedding(y.clamp(min=0)) * (y >= 0).unsqueeze(-1)
        return self.projection(torch.relu(self.conv(embedded.permute(0, 2, 1))).squeeze(2))


class Joiner(nn.Module):
    """Logits (batch, 500) of a projected frame and a projected context, (batch, 512) each."""

    def __init__(self) -> None:
        super().__init__()
        self.output = nn.Linear(PREDICTOR_DIM, VOCABULARY)

    def forward(self, encoder_out: torch.Tensor, decoder_out: torch.Tensor) -> torch.Tensor:
        return self.output(torch.tanh(encoder_out + decoder_out))


def main() -> None:
    """Make the models that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="made if missing")
    parser.add_argument("--shape", action="append", choices=list(SHAPES), help="may be repeated; all by default")
    parser.add_argument(
        "--precision", action="append", choices=("fp32", "int8"), help="may be repeated; both by default"
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)  # more of them beside any other busy process make it slower, not faster
    for name in args.shape or SHAPES:
        make(SHAPES[name], args.out, args.precision or ["fp32", "int8"], args.seed)


@torch.no_grad()
def make(shape: Shape, out: Path, precisions: list[Precision], seed: int) -> None:
    """Write the model at each precision; the same seed gives the same weights."""
    torch.manual_seed(seed)
    is_ctc = shape.family == "zipformer2-ctc"
    width = max(shape.widths)
    head = nn.Linear(width, VOCABULARY) if is_ctc else ScaledLinear(width, PREDICTOR_DIM, initial_scale=0.25)
    encoder, predictor, joiner = StreamingEncoder(shape, head).eval(), Predictor().eval(), Joiner().eval()
    for module in (encoder, predictor, joiner):
        redraw(module)
    centre(head, step_through(encoder))
    frames = step_through(encoder)
    if is_ctc:
        blank = frames[:, 0] - head.bias[0]
        settle_blank(head, lambda: frames[:, 1:].max(dim=1).values > blank + head.bias[0])
        encoder.head = nn.Sequential(head, nn.LogSoftmax(dim=-1))
        parts = {"model": encoder}
    else:
        settle_blank(joiner.output, lambda: spoken(frames, predictor, joiner))
        parts = {"encoder": encoder, "decoder": predictor, "joiner": joiner}
    millions = sum(parameter.numel() for part in parts.values() for parameter in part.parameters()) / 1e6
    exported = out / f".{shape.name}"
    exported.mkdir(parents=True, exist_ok=True)
    for role, part in parts.items():
        EXPORTERS[role](part, exported / f"{role}.onnx")
    for precision in precisions:
        directory = out / f"{shape.name}-{precision}"
        write_model(directory, exported, list(parts), precision)
        describe(directory, shape, precision, seed, millions)
        print(f"{directory}: {millions:.1f} million parameters, {_megabytes(directory):.0f} MB", flush=True)
        subprocess.run([sys.executable, str(CHECK), str(directory)], check=True)
    for role in parts:
        (exported / f"{role}.onnx").unlink()
    exported.rmdir()


def redraw(module: nn.Module) -> None:
    """Give each matrix weights of its own, of the size it was initialised with.

    The wheel copies the layers of a stack from the first one; the exporter would store such twins once.
    """
    for parameter in module.parameters():
        if parameter.dim() > 1:
            parameter.normal_(parameter.mean(), parameter.std())


def step_through(encoder: StreamingEncoder) -> torch.Tensor:
    """Outputs (frames, head's width) for a recording of speech."""
    sound, _ = soundfile.read(SPEECH, dtype="float32")
    features = torch.from_numpy(filter_banks(sound))[None]
    states, frames = encoder.initial_states(), []
    for first in range(0, features.shape[1] - WINDOW_FEATURES, CHUNK_FEATURES):
        out, states = encoder(features[:, first : first + WINDOW_FEATURES], states)
        frames.append(out[0])
    return torch.cat(frames)


def centre(head: nn.Linear, outputs: torch.Tensor) -> None:
    """Make each output of the head, (frames, width) so far, of mean 0 and deviation 1: frames then differ."""
    assert torch.isfinite(outputs).all()
    mean, deviation = outputs.mean(dim=0), outputs.std(dim=0)
    head.weight /= deviation[:, None]
    head.bias.copy_((head.bias - mean) / deviation)


def settle_blank(output: nn.Linear, speaks: Callable[[], torch.Tensor]) -> None:
    """Find the bias of token 0, the blank, with which it wins all frames but ``TOKENS_PER_FRAME`` of them.

    Args:
        output: The layer that gives the logits.
        speaks: Whether another token wins, for each frame.
    """
    low, high = -100.0, 100.0
    for _ in range(HALVINGS):
        output.bias[0] = (low + high) / 2
        if speaks().float().mean() > TOKENS_PER_FRAME:
            low = (low + high) / 2
        else:
            high = (low + high) / 2


def spoken(frames: torch.Tensor, predictor: Predictor, joiner: Joiner) -> torch.Tensor:
    """Greedy search: whether each frame gives a token."""
    context = torch.zeros(1, CONTEXT_TOKENS, dtype=torch.int64)
    predicted, gives = predictor(context), []
    for frame in frames:
        token = int(joiner(frame[None], predicted).argmax())
        gives.append(token != 0)
        if token != 0:
            context = torch.tensor([[*context[0, 1:].tolist(), token]])
            predicted = predictor(context)
    return torch.tensor(gives)


# Export.


def export_encoder(encoder: StreamingEncoder, path: Path, output: str = "encoder_out") -> None:
    """Trace one step, and add what sherpa-onnx reads about it."""
    traced = copy.deepcopy(encoder)
    onnx_swoosh(traced)
    states = traced.initial_states()
    layers = (len(states) - 2) // len(STATES_PER_LAYER)
    axes = {f"cached_{kind}_{layer}": {BATCH_AXIS[kind]: "N"} for layer in range(layers) for kind in STATES_PER_LAYER}
    axes |= {"embed_states": {0: "N"}, "processed_lens": {0: "N"}}
    inputs, outputs = ["x", *axes], [output, *(f"new_{name}" for name in axes)]
    axes |= {f"new_{name}": axis for name, axis in axes.items()} | {"x": {0: "N"}, output: {0: "N"}}
    with _streaming_while_tracing(traced.encoder):
        _export(traced, (torch.rand(1, WINDOW_FEATURES, FEATURES), states), path, inputs, outputs, axes)
    _add_metadata(path, encoder_metadata(traced.encoder))


def export_ctc(model: StreamingEncoder, path: Path) -> None:
    """A CTC model is an encoder that gives log-probabilities."""
    export_encoder(model, path, "log_probs")


def export_predictor(predictor: Predictor, path: Path) -> None:
    """The decoder, with the size of its vocabulary."""
    tokens = torch.zeros(1, CONTEXT_TOKENS, dtype=torch.int64)
    _export(predictor, (tokens,), path, ["y"], ["decoder_out"], {"y": {0: "N"}, "decoder_out": {0: "N"}})
    _add_metadata(path, {"context_size": str(CONTEXT_TOKENS), "vocab_size": str(VOCABULARY)})


def export_joiner(joiner: Joiner, path: Path) -> None:
    """The joiner."""
    names = ["encoder_out", "decoder_out"]
    pair = (torch.rand(1, PREDICTOR_DIM), torch.rand(1, PREDICTOR_DIM))
    _export(joiner, pair, path, names, ["logit"], {name: {0: "N"} for name in (*names, "logit")})
    _add_metadata(path, {"joiner_dim": str(PREDICTOR_DIM)})


EXPORTERS = {"encoder": export_encoder, "decoder": export_predictor, "joiner": export_joiner, "model": export_ctc}


def encoder_metadata(encoder: Zipformer) -> dict[str, str]:
    """What sherpa-onnx needs to know about a zipformer2."""
    lists = {
        "num_encoder_layers": encoder.num_encoder_layers,
        "encoder_dims": encoder.encoder_dim,
        "cnn_module_kernels": encoder.cnn_module_kernel,
        "left_context_len": [LEFT_CONTEXT_FRAMES // factor for factor in encoder.downsampling_factor],
        "query_head_dims": encoder.query_head_dim,
        "value_head_dims": encoder.value_head_dim,
        "num_heads": encoder.num_heads,
    }
    plain = {
        "model_type": "zipformer2",
        "version": "1",
        "model_author": "edge-asr",
        "comment": "random weights",
        "decode_chunk_len": str(CHUNK_FEATURES),
        "T": str(WINDOW_FEATURES),
    }
    return plain | {key: ",".join(map(str, values)) for key, values in lists.items()}


@contextmanager
def _streaming_while_tracing(encoder: Zipformer) -> Iterator[None]:
    """The wheel's modules call each other through ``forward``; while tracing, that is the streaming one."""
    kind = type(encoder)
    kept = kind.forward
    kind.forward = kind.streaming_forward
    try:
        yield
    finally:
        kind.forward = kept


def _export(
    module: nn.Module,
    inputs: tuple[object, ...],
    path: Path,
    input_names: list[str],
    output_names: list[str],
    axes: dict[str, dict[int, str]],
) -> None:
    torch.onnx.export(
        module,
        inputs,
        str(path),
        opset_version=OPSET,
        input_names=input_names,
        output_names=output_names,
        dynamic_axes=axes,
        dynamo=False,
    )


def _add_metadata(path: Path, metadata: dict[str, str]) -> None:
    graph = onnx.load(str(path))
    for key, value in metadata.items():
        graph.metadata_props.add(key=key, value=value)
    onnx.save(graph, str(path))


# The directory.


def write_model(directory: Path, exported: Path, roles: list[str], precision: Precision) -> None:
    """Graphs and tokens. int8 is what is published as such: matrix products dynamically quantized, the decoder not."""
    directory.mkdir(parents=True, exist_ok=True)
    for role in roles:
        source, target = exported / f"{role}.onnx", directory / f"{role}.onnx"
        if precision == "int8" and role != "decoder":
            quantize_dynamic(str(source), str(target), op_types_to_quantize=["MatMul"], weight_type=QuantType.QInt8)
        else:
            target.write_bytes(source.read_bytes())
    names = ["<blk>", "<sos/eos>", "<unk>", *(f"▁w{number}" for number in range(3, VOCABULARY))]
    lines = (f"{name} {number}\n" for number, name in enumerate(names))
    (directory / "tokens.txt").write_text("".join(lines), encoding="utf-8")


def describe(directory: Path, shape: Shape, precision: Precision, seed: int, millions: float) -> None:
    """Write the manifest."""
    files = {path.stem: _described(path) for path in sorted(directory.iterdir()) if path.name != MANIFEST_FILE}
    manifest = ModelManifest(
        name=directory.name,
        version=str(seed),
        family=shape.family,
        languages=("und",),  # undetermined: what it writes is not to be compared with what is said
        sample_rate_hz=16_000,
        chunk_ms=CHUNK_FEATURES * 10,
        precision=precision,
        files=files,
        licence="Apache-2.0",
        source=ModelSource(kind="local"),
        summary=f"Random weights, {millions:.0f} million, in the shape of {shape.like}",
    )
    (directory / MANIFEST_FILE).write_text(format_manifest(manifest), encoding="utf-8")


def _described(path: Path) -> ModelFile:
    content = path.read_bytes()
    return ModelFile(path=path.name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def _megabytes(directory: Path) -> float:
    return sum(path.stat().st_size for path in directory.iterdir()) / 1e6


if __name__ == "__main__":
    main()
