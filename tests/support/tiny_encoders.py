"""Transducers of a few kilobytes whose encoders really need their states: each of them moves the loudness heard.

The states have the number, shapes, names and order of the family's; every one decays and takes up the loudness of the
step. A state that is lost, mixed up or given to another stream of the batch shows in the tokens of audio near the
threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import helper

from tests.support import tiny_models as tiny

CHUNK = 32
WINDOW = 45
WIDTH = 8
LEFT = 16
KERNEL = 5
LAYERS = 2


@dataclass(frozen=True, slots=True)
class TinyState:
    name: str
    shape: tuple[int | str, ...]
    """``N`` where the batch is."""
    is_count: bool = False


CONFORMER = (
    TinyState("attn_cache", (LAYERS, LEFT, "N", WIDTH)),
    TinyState("conv_cache", (LAYERS, KERNEL - 1, "N", WIDTH)),
)
LSTM = (TinyState("h", (LAYERS, "N", WIDTH)), TinyState("c", (LAYERS, "N", 2 * WIDTH)))
ZIPFORMER = (
    TinyState("cached_len_0", (LAYERS, "N"), is_count=True),
    TinyState("cached_avg_0", (LAYERS, "N", WIDTH)),
    TinyState("cached_key_0", (LAYERS, LEFT, "N", WIDTH)),
    TinyState("cached_val_0", (LAYERS, LEFT, "N", WIDTH // 2)),
    TinyState("cached_val2_0", (LAYERS, LEFT, "N", WIDTH // 2)),
    TinyState("cached_conv1_0", (LAYERS, "N", WIDTH, KERNEL - 1)),
    TinyState("cached_conv2_0", (LAYERS, "N", WIDTH, KERNEL - 1)),
)
_COMMON = {"T": str(WINDOW), "decode_chunk_len": str(CHUNK)}
_METADATA = {
    "conformer": {
        "num_encoder_layers": str(LAYERS),
        "left_context": str(LEFT),
        "encoder_dim": str(WIDTH),
        "pad_length": "7",
        "cnn_module_kernel": str(KERNEL),
    },
    "lstm": {"num_encoder_layers": str(LAYERS), "d_model": str(WIDTH), "rnn_hidden_size": str(2 * WIDTH)},
    "zipformer": {
        "num_encoder_layers": str(LAYERS),
        "encoder_dims": str(WIDTH),
        "attention_dims": str(WIDTH),
        "cnn_module_kernels": str(KERNEL),
        "left_context_len": str(LEFT),
    },
}
_STATES = {"conformer": CONFORMER, "lstm": LSTM, "zipformer": ZIPFORMER}


def write_stateful_transducer(directory: Path, model_type: str) -> dict[str, Path]:
    """``conformer``, ``lstm`` or ``zipformer``; role to path."""
    directory.mkdir(parents=True, exist_ok=True)
    vocabulary = 1 + len(tiny.WORDS)
    states, takes_count = _STATES[model_type], model_type == "conformer"
    metadata = {"model_type": model_type, **_COMMON, **_METADATA[model_type]}
    decoder = {"vocab_size": str(vocabulary), "context_size": "2"}
    return {
        "tokens": tiny.write_tokens(directory, ("<blk>", *tiny.WORDS)),
        "encoder": tiny._save(directory / "encoder.onnx", _encoder(states, takes_count), metadata),
        "decoder": tiny._save(directory / "decoder.onnx", tiny._cycle_decoder(vocabulary), decoder),
        "joiner": tiny._save(directory / "joiner.onnx", tiny._loudness_joiner(vocabulary), {}),
    }


def _encoder(states: Sequence[TinyState], takes_count: bool) -> onnx.GraphProto:
    nodes, constants = tiny._loudness("x", CHUNK)
    constants += [
        tiny._constant("share", 0.2 / len(states)),
        tiny._constant("decay", 0.6),
        tiny._constant("per_frame", 0.002),
        tiny._constant("one", 1, int),
        tiny._integers("to_frames", -1, 1, 1),
    ]
    heard = "loudness"
    nodes.append(helper.make_node("ReduceMean", ["loudness"], ["step"], axes=[1, 2], keepdims=0))
    if takes_count:
        nodes += [
            helper.make_node("Cast", ["processed_lens"], ["done"], to=1),
            helper.make_node("Mul", ["done", "per_frame"], ["moved"]),
            helper.make_node("Reshape", ["moved", "to_frames"], ["by_time"]),
            helper.make_node("Add", [heard, "by_time"], ["timed"]),
        ]
        heard = "timed"
    for state in states:
        axis = state.shape.index("N")
        others = [index for index in range(len(state.shape)) if index != axis]
        floats = f"{state.name}/float"
        constants.append(
            tiny._integers(f"{state.name}/axes", *(-1 if at == axis else 1 for at in range(len(state.shape))))
        )
        nodes += [
            helper.make_node("Cast", [state.name], [floats], to=1),
            helper.make_node("ReduceMean", [floats], [f"{floats}/mean"], axes=others, keepdims=0),
            helper.make_node("Mul", [f"{floats}/mean", "share"], [f"{floats}/share"]),
            helper.make_node("Reshape", [f"{floats}/share", "to_frames"], [f"{floats}/frames"]),
            helper.make_node("Add", [heard, f"{floats}/frames"], [f"{state.name}/heard"]),
        ]
        heard = f"{state.name}/heard"
        if state.is_count:
            nodes.append(helper.make_node("Add", [state.name, "one"], [f"new_{state.name}"]))
        else:
            nodes += [
                helper.make_node("Mul", [state.name, "decay"], [f"{state.name}/decayed"]),
                helper.make_node("Reshape", ["step", f"{state.name}/axes"], [f"{state.name}/step"]),
                helper.make_node("Add", [f"{state.name}/decayed", f"{state.name}/step"], [f"new_{state.name}"]),
            ]
    nodes.append(helper.make_node("Identity", [heard], ["encoder_out"]))
    declared = [
        (tiny._int64 if state.is_count else tiny._float)(prefix + state.name, *state.shape)
        for prefix in ("", "new_")
        for state in states
    ]
    count = [tiny._int64("processed_lens", "N")] if takes_count else []
    return helper.make_graph(
        nodes,
        "encoder",
        [tiny._float("x", "N", WINDOW, tiny.MEL_BINS), *declared[: len(states)], *count],
        [tiny._float("encoder_out", "N", CHUNK // tiny.SUBSAMPLING, 1), *declared[len(states) :]],
        constants,
    )
