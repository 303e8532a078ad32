"""Models of a few kilobytes that sherpa-onnx really loads: they emit tokens where the audio is loud, and only there.

Each ``write_…`` function fills a directory and returns role → path. The token sequence is a fixed cycle, so a lost,
doubled or reordered frame shows in the text. Recurrent state takes part in the result (``0 * state`` is added to the
loudness): a NaN that gets in stays in, as in a trained model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelFile, ModelManifest, ModelSource

MEL_BINS = 80
SUBSAMPLING = 4
WORDS = ("▁one", "▁two", "▁three", "▁four")
"""What the models can say, in the order in which they say it."""

LOUD_LOG_MEL = -6.0
"""Mean log-mel energy above which a frame is loud: silence is at -15.9, white noise of rms 0.001 at -9.5 and of 0.1 at
-0.3. Energy in few bins does not count: a pure tone, however loud, is at -13."""

LOUD_LOG_MEL_INT16 = LOUD_LOG_MEL + 20.8
"""The same where the engine scales samples to 16-bit integers (WeNet, Paraformer): 2 ln 32768 more."""

OPSET = 17
IR_VERSION = 8

Node = onnx.NodeProto


def write_lstm_transducer(
    directory: Path,
    *,
    chunk_frames: int = 32,
    window_frames: int | None = None,
    model_type: str = "lstm",
    tokens: Sequence[str] = ("<blk>", *WORDS),
    without_metadata: Sequence[str] = (),
    metadata: Mapping[str, str] | None = None,
    ir_version: int = IR_VERSION,
    opset: int = OPSET,
) -> dict[str, Path]:
    """An LSTM transducer: one token for each loud output frame of 40 ms, cycling through ``tokens[1:]``.

    Args:
        directory: Where the files go; made if missing.
        chunk_frames: Feature frames (10 ms) consumed per decoding step, a multiple of 4.
        window_frames: Feature frames the encoder looks at per step (``T``); ``chunk_frames`` + 13 by default.
        model_type: Value of the encoder's metadata.
        tokens: Contents of ``tokens.txt``, blank first; the vocabulary stays that of the default.
        without_metadata: Keys to leave out of every file.
        metadata: Further keys, or other values, for the encoder.
        ir_version: ONNX file version.
        opset: ONNX operator set; the graph itself is that of 17.
    """
    directory.mkdir(parents=True, exist_ok=True)
    window_frames = chunk_frames + 13 if window_frames is None else window_frames
    vocabulary = 1 + len(WORDS)
    encoder_keys = {
        "model_type": model_type,
        "num_encoder_layers": "1",
        "T": str(window_frames),
        "decode_chunk_len": str(chunk_frames),
        "rnn_hidden_size": "4",
        "d_model": "4",
        **(metadata or {}),
    }
    decoder_keys = {"vocab_size": str(vocabulary), "context_size": "2"}
    graphs = {
        "encoder": (_lstm_encoder(chunk_frames, window_frames), encoder_keys),
        "decoder": (_cycle_decoder(vocabulary), decoder_keys),
        "joiner": (_loudness_joiner(vocabulary), {"joiner_dim": "1"}),
    }
    paths = {"tokens": write_tokens(directory, tokens)}
    for role, (graph, keys) in graphs.items():
        kept = {key: value for key, value in keys.items() if key not in without_metadata}
        paths[role] = _save(directory / f"{role}.onnx", graph, kept, ir_version=ir_version, opset=opset)
    return paths


def write_nemo_ctc_streaming(directory: Path, *, chunk_frames: int = 48, window_frames: int = 57) -> dict[str, Path]:
    """A cache-aware NeMo CTC model: blank is the last token, one token for each loud output frame."""
    directory.mkdir(parents=True, exist_ok=True)
    caches = {"cache_last_channel": (1, 2, 3), "cache_last_time": (1, 3, 2)}
    keys = {
        "window_size": str(window_frames),
        "chunk_shift": str(chunk_frames),
        "subsampling_factor": str(SUBSAMPLING),
        "vocab_size": str(len(WORDS)),
    }
    for name, shape in caches.items():
        keys |= {f"{name}_dim{axis}": str(size) for axis, size in enumerate(shape, start=1)}
    tokens = (*WORDS, "<blk>")
    graph = _nemo_graph(chunk_frames, window_frames, caches, blank=len(WORDS))
    return {"tokens": write_tokens(directory, tokens), "model": _save(directory / "model.onnx", graph, keys)}


def write_nemo_ctc_offline(directory: Path) -> dict[str, Path]:
    """A NeMo CTC model that takes a whole stretch of speech at once."""
    directory.mkdir(parents=True, exist_ok=True)
    keys = {
        "vocab_size": str(1 + len(WORDS)),
        "subsampling_factor": str(SUBSAMPLING),
        "normalize_type": "NA",
    }
    return {
        "tokens": write_tokens(directory, (*WORDS, "<blk>")),
        "model": _save(directory / "model.onnx", _nemo_offline_graph(blank=len(WORDS)), keys),
    }


def write_wenet_ctc_streaming(directory: Path) -> dict[str, Path]:
    """A WeNet CTC model for chunks of 16 output frames; the engine feeds it 67 frames and moves on by 64."""
    directory.mkdir(parents=True, exist_ok=True)
    keys = {
        "head": "1",
        "num_blocks": "1",
        "output_size": "2",
        "cnn_module_kernel": "3",
        "right_context": "6",
        "subsampling_factor": str(SUBSAMPLING),
        "vocab_size": str(1 + len(WORDS)),
    }
    tokens = ("<blank>", *WORDS)
    return {
        "tokens": write_tokens(directory, tokens),
        "model": _save(directory / "model.onnx", _wenet_graph(chunk_frames=64, window_frames=67), keys),
    }


def write_t_one_ctc(directory: Path) -> dict[str, Path]:
    """A T-one model: 8 kHz samples as integers, 300 ms a step, ten output frames each, 16-bit float state."""
    directory.mkdir(parents=True, exist_ok=True)
    keys = {"frame_length_ms": "300", "state_dim": "4", "sample_rate": "8000"}
    tokens = (*WORDS, "<blk>")
    return {
        "tokens": write_tokens(directory, tokens),
        "model": _save(directory / "model.onnx", _t_one_graph(blank=len(WORDS)), keys),
    }


def write_paraformer_streaming(directory: Path) -> dict[str, Path]:
    """A streaming Paraformer: each loud frame of 60 ms fires one acoustic embedding, hence one token."""
    directory.mkdir(parents=True, exist_ok=True)
    keys = {
        "vocab_size": str(1 + len(WORDS)),
        "lfr_window_size": "7",
        "lfr_window_shift": "6",
        "encoder_output_size": "2",
        "decoder_num_blocks": "1",
        "decoder_kernel_size": "3",
        "neg_mean": ",".join(["0.0"] * 7 * MEL_BINS),
        "inv_stddev": ",".join([repr(2**-0.5)] * 7 * MEL_BINS),
    }
    tokens = ("<blank>", *(word.removeprefix("▁") for word in WORDS))
    return {
        "tokens": write_tokens(directory, tokens),
        "encoder": _save(directory / "encoder.onnx", _paraformer_encoder(), keys),
        "decoder": _save(directory / "decoder.onnx", _paraformer_decoder(), {}),
    }


def write_graph(
    path: Path, *, inputs: Sequence[str], outputs: Sequence[str], metadata: Mapping[str, str] | None = None
) -> Path:
    """A graph that only has a shape: every output is the first input. For what reads files without running them."""
    graph = helper.make_graph(
        [helper.make_node("Identity", [inputs[0]], [output]) for output in outputs],
        "shape_only",
        [_float(name, "N", "T") for name in inputs],
        [_float(name, "N", "T") for name in outputs],
    )
    return _save(path, graph, metadata or {})


def write_tokens(directory: Path, tokens: Sequence[str]) -> Path:
    """``tokens.txt``: one token and its number a line."""
    path = directory / "tokens.txt"
    path.write_text("".join(f"{token} {number}\n" for number, token in enumerate(tokens)), encoding="utf-8")
    return path


def tiny_manifest(family: str, files: Mapping[str, Path], *, name: str = "tiny", chunk_ms: int = 320) -> ModelManifest:
    """A manifest for files that lie in one directory."""
    return ModelManifest(
        name=name,
        version="1",
        family=family,
        languages=("en",),
        sample_rate_hz=FAMILIES[family].sample_rate_hz,
        chunk_ms=chunk_ms if FAMILIES[family].kind == "streaming" else 0,
        precision="fp32",
        files={role: ModelFile(path=path.name) for role, path in files.items()},
        licence="CC0-1.0",
        source=ModelSource(kind="local"),
    )


def _save(
    path: Path,
    graph: onnx.GraphProto,
    metadata: Mapping[str, str],
    *,
    ir_version: int = IR_VERSION,
    opset: int = OPSET,
) -> Path:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
    helper.set_model_props(model, dict(metadata))
    path.write_bytes(model.SerializeToString())
    return path


def _float(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _int64(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.INT64, shape)


def _constant(name: str, values: object, dtype: type = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(values, dtype=dtype), name)


def _integers(name: str, *values: int) -> onnx.TensorProto:
    return _constant(name, values, np.int64)


def _loudness(features: str, chunk_frames: int) -> tuple[list[Node], list[onnx.TensorProto]]:
    """From (N, T, 80) to ``loudness`` (N, chunk / 4, 1): mean log-mel energy of four frames."""
    nodes = [
        helper.make_node("Slice", [features, "from_0", "to_chunk", "axis_1"], ["chunk"]),
        helper.make_node("ReduceMean", ["chunk"], ["frame_means"], axes=[2], keepdims=1),
        helper.make_node("Reshape", ["frame_means", "by_four"], ["fours"]),
        helper.make_node("ReduceMean", ["fours"], ["loudness"], axes=[2], keepdims=1),
    ]
    constants = [
        _integers("from_0", 0),
        _integers("to_chunk", chunk_frames),
        _integers("axis_1", 1),
        _integers("by_four", 0, -1, SUBSAMPLING),
    ]
    return nodes, constants


def _lstm_encoder(chunk_frames: int, window_frames: int) -> onnx.GraphProto:
    nodes, constants = _loudness("x", chunk_frames)
    nodes += [
        helper.make_node("ReduceMean", ["h"], ["h_mean"], axes=[0, 2], keepdims=1),  # (1, N, 1)
        helper.make_node("Transpose", ["h_mean"], ["h_first"], perm=[1, 0, 2]),  # (N, 1, 1)
        helper.make_node("Mul", ["h_first", "zero"], ["h_trace"]),
        helper.make_node("Add", ["loudness", "h_trace"], ["encoder_out"]),
        helper.make_node("ReduceMean", ["encoder_out"], ["step_mean"], axes=[1], keepdims=1),  # (N, 1, 1)
        helper.make_node("Transpose", ["step_mean"], ["step_state"], perm=[1, 0, 2]),  # (1, N, 1)
        helper.make_node("Mul", ["h", "half"], ["h_decayed"]),
        helper.make_node("Add", ["h_decayed", "step_state"], ["next_h"]),
        helper.make_node("Identity", ["c"], ["next_c"]),
    ]
    constants += [_constant("zero", 0.0), _constant("half", 0.5)]
    return helper.make_graph(
        nodes,
        "encoder",
        [_float("x", "N", window_frames, MEL_BINS), _float("h", 1, "N", 4), _float("c", 1, "N", 4)],
        [
            _float("encoder_out", "N", chunk_frames // SUBSAMPLING, 1),
            _float("next_h", 1, "N", 4),
            _float("next_c", 1, "N", 4),
        ],
        constants,
    )


def _cycle_decoder(vocabulary: int) -> onnx.GraphProto:
    """From the last token to a preference for its successor in the cycle 1, 2, …, 1."""
    preference = np.zeros((vocabulary, vocabulary), np.float32)
    for token in range(vocabulary):
        preference[token, token % (vocabulary - 1) + 1] = 5.0
    return helper.make_graph(
        [
            helper.make_node("Slice", ["y", "last", "end", "axis_1"], ["last_token"]),
            helper.make_node("Squeeze", ["last_token", "axis_1"], ["token"]),
            helper.make_node("Gather", ["preference", "token"], ["decoder_out"], axis=0),
        ],
        "decoder",
        [_int64("y", "N", 2)],
        [_float("decoder_out", "N", vocabulary)],
        [
            _constant("preference", preference),
            _integers("last", -1),
            _integers("end", 2),
            _integers("axis_1", 1),
        ],
    )


def _loudness_joiner(vocabulary: int) -> onnx.GraphProto:
    """Blank wins below the threshold, the decoder's preference above it."""
    weight = np.ones((1, vocabulary), np.float32)
    weight[0, 0] = -1.0
    bias = np.full(vocabulary, -LOUD_LOG_MEL - 2.5, np.float32)
    bias[0] = LOUD_LOG_MEL + 2.5
    return helper.make_graph(
        [
            helper.make_node("MatMul", ["encoder_out", "weight"], ["scaled"]),
            helper.make_node("Add", ["scaled", "bias"], ["by_loudness"]),
            helper.make_node("Add", ["by_loudness", "decoder_out"], ["logit"]),
        ],
        "joiner",
        [_float("encoder_out", "N", 1), _float("decoder_out", "N", vocabulary)],
        [_float("logit", "N", vocabulary)],
        [_constant("weight", weight), _constant("bias", bias)],
    )


def _ctc_head(
    loudness: str, output: str, frames: int, blank: int, threshold: float
) -> tuple[list[Node], list[onnx.TensorProto]]:
    """From (N, frames, 1) to log-probability-like scores (N, frames, V): the cycle where loud, blank elsewhere."""
    words = [token for token in range(len(WORDS) + 1) if token != blank]
    speak = np.full((1, frames, len(WORDS) + 1), -20.0, np.float32)
    for frame in range(frames):
        speak[0, frame, words[frame % len(words)]] = 0.0
    rest = np.full((1, 1, len(WORDS) + 1), -20.0, np.float32)
    rest[0, 0, blank] = 0.0
    nodes = [
        helper.make_node("Greater", [loudness, "threshold"], ["is_loud"]),
        helper.make_node("Where", ["is_loud", "speak", "rest"], ["scores"]),
        helper.make_node("Mul", [loudness, "nothing"], ["trace"]),
        helper.make_node("Add", ["scores", "trace"], [output]),
    ]
    constants = [
        _constant("threshold", threshold),
        _constant("speak", speak),
        _constant("rest", rest),
        _constant("nothing", 0.0),
    ]
    return nodes, constants


def _nemo_graph(
    chunk_frames: int, window_frames: int, caches: Mapping[str, tuple[int, ...]], blank: int
) -> onnx.GraphProto:
    nodes, constants = _loudness("by_time", chunk_frames)
    nodes.insert(0, helper.make_node("Transpose", ["audio_signal"], ["by_time"], perm=[0, 2, 1]))
    head, head_constants = _ctc_head("loudness", "logprobs", chunk_frames // SUBSAMPLING, blank, LOUD_LOG_MEL)
    states = [*caches, "cache_last_channel_len"]
    nodes += head
    nodes += [helper.make_node("Identity", [name], [f"{name}_next"]) for name in ["length", *states]]
    inputs = [_float("audio_signal", "N", MEL_BINS, window_frames), _int64("length", "N")]
    outputs = [_float("logprobs", "N", "frames", len(WORDS) + 1), _int64("length_next", "N")]
    for name, shape in caches.items():
        inputs.append(_float(name, "N", *shape))
        outputs.append(_float(f"{name}_next", "N", *shape))
    inputs.append(_int64("cache_last_channel_len", "N"))
    outputs.append(_int64("cache_last_channel_len_next", "N"))
    return helper.make_graph(nodes, "nemo_ctc", inputs, outputs, constants + head_constants)


def _nemo_offline_graph(blank: int) -> onnx.GraphProto:
    """One score row for every four frames; the token is chosen by the row's number, so that none repeats."""
    words = np.asarray([[20.0 if row == word else 0.0 for word in range(len(WORDS) + 1)] for row in range(len(WORDS))])
    rest = np.zeros((1, 1, len(WORDS) + 1), np.float32)
    rest[0, 0, blank] = 10.0
    return helper.make_graph(
        [
            helper.make_node("ReduceMean", ["audio_signal"], ["frame_means"], axes=[1], keepdims=0),  # (N, T)
            helper.make_node("Unsqueeze", ["frame_means", "axis_1"], ["as_channel"]),
            helper.make_node("AveragePool", ["as_channel"], ["pooled"], kernel_shape=[4], strides=[4]),
            helper.make_node("Transpose", ["pooled"], ["loudness"], perm=[0, 2, 1]),  # (N, T / 4, 1)
            helper.make_node("Greater", ["loudness", "threshold"], ["is_loud"]),
            helper.make_node("Cast", ["is_loud"], ["loud"], to=TensorProto.INT64),
            helper.make_node("CumSum", ["loud", "one"], ["count"]),
            helper.make_node("Mod", ["count", "words_count"], ["turn"]),
            helper.make_node("Squeeze", ["turn", "axis_2"], ["flat_turn"]),
            helper.make_node("Gather", ["words", "flat_turn"], ["speak"], axis=0),
            helper.make_node("Where", ["is_loud", "speak", "rest"], ["logprobs"]),
        ],
        "nemo_ctc_offline",
        [_float("audio_signal", "N", MEL_BINS, "T"), _int64("length", "N")],
        [_float("logprobs", "N", "frames", len(WORDS) + 1)],
        [
            _constant("words", words),
            _constant("rest", rest),
            _constant("threshold", LOUD_LOG_MEL),
            _constant("one", 1, np.int64),
            _integers("words_count", len(WORDS)),
            _integers("axis_1", 1),
            _integers("axis_2", 2),
        ],
    )


def _wenet_graph(chunk_frames: int, window_frames: int) -> onnx.GraphProto:
    nodes, constants = _loudness("x", chunk_frames)
    head, head_constants = _ctc_head("loudness", "log_probs", chunk_frames // SUBSAMPLING, 0, LOUD_LOG_MEL_INT16)
    nodes += head
    nodes += [helper.make_node("Identity", [name], [f"r_{name}"]) for name in ("att_cache", "cnn_cache")]
    return helper.make_graph(
        nodes,
        "wenet_ctc",
        [
            _float("x", 1, window_frames, MEL_BINS),
            _int64("offset", 1),
            _int64("required_cache_size", 1),
            _float("att_cache", 1, 1, "cache", 4),
            _float("cnn_cache", 1, 1, 2, 2),
            helper.make_tensor_value_info("attn_mask", TensorProto.BOOL, (1, 1, "mask")),
        ],
        [
            _float("log_probs", 1, "frames", 1 + len(WORDS)),
            _float("r_att_cache", 1, 1, "cache", 4),
            _float("r_cnn_cache", 1, 1, 2, 2),
        ],
        constants + head_constants,
    )


def _t_one_graph(blank: int) -> onnx.GraphProto:
    head, head_constants = _ctc_head("loudness", "log_probs", 10, blank, 300.0)
    nodes = [
        helper.make_node("Cast", ["signal"], ["samples"], to=TensorProto.FLOAT),
        helper.make_node("Abs", ["samples"], ["levels"]),
        helper.make_node("Reshape", ["levels", "by_frame"], ["frames"]),
        helper.make_node("ReduceMean", ["frames"], ["loudness"], axes=[2], keepdims=1),
        *head,
        helper.make_node("Identity", ["state"], ["state_next"]),
    ]
    return helper.make_graph(
        nodes,
        "t_one",
        [
            helper.make_tensor_value_info("signal", TensorProto.INT32, ("N", 2400, 1)),
            helper.make_tensor_value_info("state", TensorProto.FLOAT16, ("N", 4)),
        ],
        [
            _float("log_probs", "N", 10, len(WORDS) + 1),
            helper.make_tensor_value_info("state_next", TensorProto.FLOAT16, ("N", 4)),
        ],
        [_integers("by_frame", 0, 10, 240), *head_constants],
    )


def _paraformer_encoder() -> onnx.GraphProto:
    """From (1, T, 560) to encoder output (1, T, 2), its length, and ``alphas`` (1, T): 1 where loud."""
    return helper.make_graph(
        [
            helper.make_node("ReduceMean", ["speech"], ["loudness"], axes=[2], keepdims=1),
            helper.make_node("Concat", ["loudness", "loudness"], ["enc"], axis=2),
            helper.make_node("Identity", ["speech_lengths"], ["enc_len"]),
            helper.make_node("Greater", ["loudness", "threshold"], ["is_loud"]),
            helper.make_node("Cast", ["is_loud"], ["weights"], to=TensorProto.FLOAT),
            helper.make_node("Squeeze", ["weights", "axis_2"], ["alphas"]),
        ],
        "paraformer_encoder",
        [
            _float("speech", 1, "T", 7 * MEL_BINS),
            helper.make_tensor_value_info("speech_lengths", TensorProto.INT32, (1,)),
        ],
        [
            _float("enc", 1, "T", 2),
            helper.make_tensor_value_info("enc_len", TensorProto.INT32, (1,)),
            _float("alphas", 1, "T"),
        ],
        [_constant("threshold", LOUD_LOG_MEL_INT16), _integers("axis_2", 2)],
    )


def _paraformer_decoder() -> onnx.GraphProto:
    """Every acoustic embedding becomes the first word; the convolution cache is passed on."""
    return helper.make_graph(
        [
            helper.make_node("ReduceMean", ["acoustic_embeds"], ["logits"], axes=[2], keepdims=1),
            helper.make_node("Squeeze", ["logits", "axis_2"], ["flat"]),
            helper.make_node("Mul", ["flat", "zero"], ["zeros"]),
            helper.make_node("Add", ["zeros", "one"], ["ones"]),
            helper.make_node("Cast", ["ones"], ["sample_ids"], to=TensorProto.INT64),
            helper.make_node("Identity", ["in_cache_0"], ["out_cache_0"]),
        ],
        "paraformer_decoder",
        [
            _float("enc", 1, "T", 2),
            helper.make_tensor_value_info("enc_len", TensorProto.INT32, (1,)),
            _float("acoustic_embeds", 1, "tokens", 2),
            helper.make_tensor_value_info("acoustic_embeds_len", TensorProto.INT32, (1,)),
            _float("in_cache_0", 1, 2, 2),
        ],
        [
            _float("logits", 1, "tokens", 1),
            _int64("sample_ids", 1, "tokens"),
            _float("out_cache_0", 1, 2, 2),
        ],
        [_integers("axis_2", 2), _constant("zero", 0.0), _constant("one", 1.0)],
    )
