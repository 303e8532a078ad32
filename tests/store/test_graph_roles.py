from __future__ import annotations

import pytest

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.store.graph_roles import attention_part, check_roles, transducer_part
from edge_asr.store.model_header import FLOAT, INT64, OnnxHeader, TensorShape

INT32 = 6


def graph(inputs: dict[str, int], outputs: int = 1, metadata: dict[str, str] | None = None) -> OnnxHeader:
    return OnnxHeader(
        kind="onnx",
        inputs=tuple(TensorShape(name, kind, ("N", "T")) for name, kind in inputs.items()),
        outputs=tuple(TensorShape(f"out_{number}", FLOAT, ("N",)) for number in range(outputs)),
        metadata=metadata or {},
    )


ENCODER = graph({"x": FLOAT, "h": FLOAT, "c": FLOAT}, outputs=3)
DECODER = graph({"y": INT64})
JOINER = graph({"encoder_out": FLOAT, "decoder_out": FLOAT})
NEMO_ENCODER = graph({"audio_signal": FLOAT, "length": INT64, "cache": FLOAT}, outputs=3)
NEMO_DECODER = graph({"targets": INT32, "target_length": INT32, "states": FLOAT}, outputs=3)


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (ENCODER, "encoder"),
        (DECODER, "decoder"),
        (JOINER, "joiner"),
        (NEMO_ENCODER, "encoder"),
        (NEMO_DECODER, "decoder"),
        (graph({"audio_signal": FLOAT, "length": INT64}), "encoder"),
    ],
)
def test_the_parts_of_a_transducer_are_told_by_their_inputs(header: OnnxHeader, part: str) -> None:
    assert transducer_part(header) == part


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (graph({"mel": FLOAT}, outputs=2), "encoder"),
        (graph({"tokens": INT64, "self_k": FLOAT}, outputs=3), "decoder"),
        (graph({"input_values": FLOAT, "attention_mask": INT64}), "encoder"),
        (graph({"encoder_attention_mask": INT64, "input_ids": INT64}), "decoder"),
        (graph({"speech": FLOAT, "speech_lengths": INT32}, outputs=3), "encoder"),
        (graph({"enc": FLOAT, "enc_len": INT32, "acoustic_embeds": FLOAT}), "decoder"),
    ],
)
def test_encoders_and_decoders_with_attention_are_told_by_their_inputs(header: OnnxHeader, part: str) -> None:
    assert attention_part(header) == part


def check(family: str, encoder: OnnxHeader, decoder: OnnxHeader) -> None:
    check_roles("m", FAMILIES[family], {"encoder": encoder, "decoder": decoder, "joiner": JOINER})


def test_whole_transducers_pass() -> None:
    check("lstm-transducer", ENCODER, DECODER)
    check("nemo-transducer-streaming", NEMO_ENCODER, NEMO_DECODER)


def test_a_part_given_twice_is_named() -> None:
    with pytest.raises(ModelDamaged, match="the file given as decoder looks like the encoder"):
        check("lstm-transducer", ENCODER, ENCODER)


def test_the_engine_would_take_a_decoder_with_several_outputs_for_nemos() -> None:
    with pytest.raises(ModelUnsupported, match="that of a NeMo transducer, not of a lstm-transducer"):
        check("lstm-transducer", ENCODER, NEMO_DECODER)
    with pytest.raises(ModelUnsupported, match="that of an icefall transducer, not of a nemo-transducer-streaming"):
        check("nemo-transducer-streaming", NEMO_ENCODER, DECODER)


def test_a_parakeet_is_named() -> None:
    parakeet = graph({"targets": INT32}, 3, {"streaming_model_type": "nemo_parakeet_unified_streaming"})
    with pytest.raises(ModelUnsupported, match="'nemo_parakeet_unified_streaming', which is no family"):
        check("nemo-transducer-streaming", NEMO_ENCODER, parakeet)


def test_a_decoder_of_32_bit_tokens_is_refused() -> None:
    with pytest.raises(ModelUnsupported, match="32-bit tokens"):
        check("lstm-transducer", ENCODER, graph({"y": INT32}))
