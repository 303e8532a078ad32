"""Export weights for sherpa-onnx: ``export.py resume.pt OUT``.

Writes ``model.onnx`` (float32), ``model.int8.onnx`` (dynamic quantization of the matrix products), the transducer twin
(``encoder``, ``decoder`` and ``joiner``, encoder and joiner in int8 too) and ``tokens.txt``, then checks the streaming
graph, chunk by chunk, against the training graph on the same features.
"""

from __future__ import annotations

import os

os.environ["K2_ONNX_EXPORT"] = "1"  # before the wheel's modules are loaded: no torch.compile while tracing

import argparse
import logging
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import sentencepiece
import torch
from model import CHUNK_FRAMES, LEFT_CONTEXT_FRAMES, VOCABULARY_SIZE, StarterModel, load_weights, onnx_swoosh
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn
from transducer import CONTEXT_SIZE, JOINER_DIM, ExportedDecoder, ExportedJoiner

LOOKAHEAD_FRAMES = 7 + 2 * 3
"""Feature frames that the convolutions need beyond a chunk."""
CHUNK_FEATURES = 2 * CHUNK_FRAMES
WINDOW_FEATURES = CHUNK_FEATURES + LOOKAHEAD_FRAMES
STATES_PER_LAYER = ("key", "nonlin_attn", "val1", "val2", "conv1", "conv2")
BATCH_AXIS = {"key": 1, "nonlin_attn": 1, "val1": 1, "val2": 1, "conv1": 0, "conv2": 0}


class StreamingModel(nn.Module):
    """One step: a window of features and the caches in, log-probabilities (or joiner inputs) and new caches out."""

    def __init__(self, model: StarterModel, *, is_transducer: bool = False) -> None:
        super().__init__()
        self.embed, self.encoder = model.encoder_embed, model.encoder
        self.head = model.transducer.encoder_projection if is_transducer else model.ctc_output

    def forward(self, x: torch.Tensor, states: list[torch.Tensor]) -> tuple[torch.Tensor, list[torch.Tensor]]:
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
        return [*self.encoder.get_init_states(1), self.embed.get_init_states(1), torch.zeros(1, dtype=torch.int64)]


def metadata(model: StarterModel) -> dict[str, str]:
    """What sherpa-onnx needs to know about a zipformer2."""
    encoder = model.encoder
    lists = {
        "num_encoder_layers": encoder.num_encoder_layers,
        "encoder_dims": encoder.encoder_dim,
        "cnn_module_kernels": encoder.cnn_module_kernel,
        "left_context_len": [LEFT_CONTEXT_FRAMES // factor for factor in encoder.downsampling_factor],
        "query_head_dims": encoder.query_head_dim,
        "value_head_dims": encoder.value_head_dim,
        "num_heads": encoder.num_heads,
    }
    return {
        "model_type": "zipformer2",
        "version": "1",
        "model_author": "edge-asr",
        "comment": "streaming ctc zipformer2",
        "decode_chunk_len": str(CHUNK_FEATURES),
        "T": str(WINDOW_FEATURES),
    } | {key: ",".join(map(str, values)) for key, values in lists.items()}


def state_names(states: list[torch.Tensor]) -> tuple[list[str], dict[str, dict[int, str]]]:
    """Names of the caches in sherpa-onnx's order, and which of their axes is the batch."""
    layers = (len(states) - 2) // len(STATES_PER_LAYER)
    axes = {f"cached_{kind}_{layer}": {BATCH_AXIS[kind]: "N"} for layer in range(layers) for kind in STATES_PER_LAYER}
    axes |= {"embed_states": {0: "N"}, "processed_lens": {0: "N"}}
    return list(axes), axes


def export_float(model: StarterModel, path: Path, *, is_transducer: bool = False) -> None:
    """Trace one step to ONNX (opset 13) and add the metadata."""
    streaming = StreamingModel(model, is_transducer=is_transducer)
    output = "encoder_out" if is_transducer else "log_probs"
    states = streaming.initial_states()
    names, axes = state_names(states)
    axes |= {f"new_{name}": axis for name, axis in axes.items()} | {"x": {0: "N"}, output: {0: "N"}}
    # The wheel's modules call each other through forward; while tracing, forward is the streaming one.
    type(model.encoder).forward, kept = type(model.encoder).streaming_forward, type(model.encoder).forward
    try:
        torch.onnx.export(
            streaming,
            (torch.rand(1, WINDOW_FEATURES, 80), states),
            str(path),
            opset_version=13,
            input_names=["x", *names],
            output_names=[output, *(f"new_{name}" for name in names)],
            dynamic_axes=axes,
            dynamo=False,
        )
    finally:
        type(model.encoder).forward = kept
    comment = {"comment": "streaming transducer zipformer2"} if is_transducer else {}
    _add_metadata(path, metadata(model) | comment)


def export_head(model: StarterModel, out: Path) -> None:
    """Decoder and joiner of the transducer twin."""
    decoder, joiner = ExportedDecoder(model.transducer), ExportedJoiner(model.transducer)
    context, projected = torch.zeros(1, CONTEXT_SIZE, dtype=torch.int64), torch.rand(1, JOINER_DIM)
    parts = (
        ("decoder", decoder, (context,), ["y"], "decoder_out"),
        ("joiner", joiner, (projected, projected), ["encoder_out", "decoder_out"], "logit"),
    )
    for name, module, example, inputs, output in parts:
        axes = {tensor: {0: "N"} for tensor in (*inputs, output)}
        path = out / f"{name}.onnx"
        torch.onnx.export(
            module, example, str(path), opset_version=13, input_names=inputs, output_names=[output],
            dynamic_axes=axes, dynamo=False,
        )  # fmt: skip
        _add_metadata(
            path,
            {"context_size": str(CONTEXT_SIZE), "vocab_size": str(VOCABULARY_SIZE)}
            if name == "decoder"
            else {"joiner_dim": str(JOINER_DIM)},
        )


def _add_metadata(path: Path, entries: dict[str, str]) -> None:
    graph = onnx.load(str(path))
    for key, value in entries.items():
        graph.metadata_props.add(key=key, value=value)
    onnx.save(graph, str(path))


def streaming_difference(model: StarterModel, path: Path, chunks: int = 12) -> float:
    """Largest difference in log-probability between chunk-by-chunk ONNX and the training graph.

    ``model`` must be a fresh one: tracing leaves traces of its own in the modules.
    """
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(1, chunks * CHUNK_FEATURES + LOOKAHEAD_FRAMES, 80, generator=generator) * 2 - 8
    with torch.no_grad():
        whole = model(features, torch.tensor([features.shape[1]]))[0][0].numpy()
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    states = StreamingModel(model).initial_states()
    names, _ = state_names(states)
    feed = dict(zip(names, (state.numpy() for state in states), strict=True))
    pieces = []
    for chunk in range(chunks):
        first = chunk * CHUNK_FEATURES
        out = session.run(None, {"x": features[:, first : first + WINDOW_FEATURES].numpy(), **feed})
        pieces.append(out[0][0])
        feed = dict(zip(names, out[1:], strict=True))
    streamed = np.concatenate(pieces)
    # The last convolutions of the whole utterance see zeros where a stream would see the next chunk.
    kept = len(streamed) - CHUNK_FRAMES // 2
    return float(np.abs(streamed[:kept] - whole[:kept]).max())


def _loaded(weights: Path) -> StarterModel:
    model = StarterModel(chunk_frames=(CHUNK_FRAMES,))
    load_weights(model, weights)
    return model.eval()


def write_tokens(spelling: Path, path: Path) -> None:
    """The token table; id 0 is the blank."""
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(spelling))
    names = ["<blk>", *(pieces.id_to_piece(number) for number in range(1, pieces.get_piece_size()))]
    path.write_text("".join(f"{name} {number}\n" for number, name in enumerate(names)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, help="resume.pt or a checkpoint of train.py")
    parser.add_argument("out", type=Path)
    parser.add_argument("--spelling", type=Path, default=Path(__file__).parents[2] / "models/starter-en/bpe.model")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    args.out.mkdir(parents=True, exist_ok=True)
    model, traced, twin = (_loaded(args.weights) for _ in range(3))
    onnx_swoosh(traced)
    onnx_swoosh(twin)
    float_path = args.out / "model.onnx"
    export_float(traced, float_path)
    export_head(twin, args.out)  # before the encoder, whose tracing leaves traces
    export_float(twin, args.out / "encoder.onnx", is_transducer=True)
    for name in ("model", "encoder", "joiner"):
        quantize_dynamic(
            str(args.out / f"{name}.onnx"),
            str(args.out / f"{name}.int8.onnx"),
            op_types_to_quantize=["MatMul"],
            weight_type=QuantType.QInt8,
        )
    write_tokens(args.spelling, args.out / "tokens.txt")
    torch.save({"model": {name: value.half() for name, value in model.state_dict().items()}}, args.out / "resume.pt")
    print(
        f"streaming against whole, largest difference in log-probability: {streaming_difference(model, float_path):.1e}"
    )
    for path in sorted(args.out.iterdir()):
        print(f"{path.name} {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
