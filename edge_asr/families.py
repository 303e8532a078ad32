"""The table of model families: which files each needs, which metadata the engine reads, how it is loaded.

Factories are those of ``sherpa_onnx`` 2.0.1 (``OnlineRecognizer`` for streaming families, ``OfflineRecognizer`` for
the others); metadata keys are the ones its C++ sources read with ``SHERPA_ONNX_READ_META_DATA*``. A missing key ends
the process that loads the model, so :mod:`edge_asr.store.inspect` checks them first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

FamilyKind = Literal["streaming", "segment", "vad", "punctuation", "speaker"]

CONTEXT = "_context"
"""Behind a graph's role: what an NPU's compiler made of it ahead of time."""

NO_HOTWORDS = "its decoder cannot be biased towards words"
"""Why most families take none."""


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """One way in which models are built and loaded."""

    name: str
    kind: FamilyKind
    """``streaming``: state carried from chunk to chunk; ``segment``: one stretch of speech at a time."""
    factory: str
    """Name of the ``from_…`` class method of sherpa-onnx; empty for families it does not load as a recogniser."""
    roles: tuple[str, ...]
    """Roles every model of the family has, in the factory's order."""
    optional_roles: tuple[str, ...] = ()
    model_type: str = ""
    """Value of the encoder's ``model_type`` metadata, passed on so that the engine need not load the file twice."""
    metadata: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Role to the metadata keys the engine reads from that file and cannot do without."""
    batches: bool = False
    """Whether the engine decodes several streams in one run."""
    sample_rate_hz: int = 16_000
    """Rate of the features, unless the manifest says otherwise."""
    writes_sentences: bool = False
    """Whether its models write capitals and punctuation themselves."""

    @property
    def recognises_speech(self) -> bool:
        """Whether its models turn audio into text."""
        return self.kind in ("streaming", "segment")

    def why_no_hotwords(self, decoding_method: str) -> str:
        """Why models that are decoded like that take none: the engine would end the process; empty where they do."""
        if not self.model_type:
            return NO_HOTWORDS
        if decoding_method != "modified_beam_search":
            return 'they need engine.decoding_method = "modified_beam_search"'
        return ""


_DECODER = ("vocab_size", "context_size")
_ZIPFORMER2 = (
    "encoder_dims",
    "query_head_dims",
    "value_head_dims",
    "num_heads",
    "num_encoder_layers",
    "cnn_module_kernels",
    "left_context_len",
    "T",
    "decode_chunk_len",
)
_NEMO_CACHE = (
    "cache_last_channel_dim1",
    "cache_last_channel_dim2",
    "cache_last_channel_dim3",
    "cache_last_time_dim1",
    "cache_last_time_dim2",
    "cache_last_time_dim3",
)
_LFR = ("lfr_window_size", "lfr_window_shift", "neg_mean", "inv_stddev")
_TRANSDUCER_ROLES = ("tokens", "encoder", "decoder", "joiner")


def _transducer(name: str, model_type: str, encoder_keys: tuple[str, ...]) -> ModelFamily:
    return ModelFamily(
        name=name,
        kind="streaming",
        factory="from_transducer",
        roles=_TRANSDUCER_ROLES,
        optional_roles=("bpe", *(f"{role}{CONTEXT}" for role in _TRANSDUCER_ROLES[1:])),
        model_type=model_type,
        metadata={"encoder": encoder_keys, "decoder": _DECODER},
        batches=True,
    )


_FAMILIES = (
    _transducer("zipformer2-transducer", "zipformer2", _ZIPFORMER2),
    _transducer(
        "zipformer-transducer",
        "zipformer",
        (
            "encoder_dims",
            "attention_dims",
            "num_encoder_layers",
            "cnn_module_kernels",
            "left_context_len",
            "T",
            "decode_chunk_len",
        ),
    ),
    _transducer(
        "conformer-transducer",
        "conformer",
        (
            "num_encoder_layers",
            "T",
            "decode_chunk_len",
            "left_context",
            "encoder_dim",
            "pad_length",
            "cnn_module_kernel",
        ),
    ),
    _transducer(
        "lstm-transducer",
        "lstm",
        ("num_encoder_layers", "T", "decode_chunk_len", "rnn_hidden_size", "d_model"),
    ),
    _transducer(
        "ebranchformer-transducer",
        "ebranchformer",
        (
            "decode_chunk_len",
            "T",
            "num_hidden_layers",
            "hidden_size",
            "intermediate_size",
            "csgu_kernel_size",
            "merge_conv_kernel",
            "left_context_len",
            "num_heads",
            "head_dim",
        ),
    ),
    ModelFamily(
        name="nemo-transducer-streaming",
        kind="streaming",
        factory="from_transducer",
        roles=_TRANSDUCER_ROLES,
        metadata={
            "encoder": (
                "window_size",
                "chunk_shift",
                "subsampling_factor",
                "normalize_type",
                "vocab_size",
                "pred_rnn_layers",
                "pred_hidden",
                *_NEMO_CACHE,
            )
        },
        batches=True,
    ),
    ModelFamily(
        name="paraformer-streaming",
        kind="streaming",
        factory="from_paraformer",
        roles=("tokens", "encoder", "decoder"),
        metadata={
            "encoder": (
                "vocab_size",
                "lfr_window_size",
                "lfr_window_shift",
                "encoder_output_size",
                "decoder_num_blocks",
                "decoder_kernel_size",
                "neg_mean",
                "inv_stddev",
            )
        },
    ),
    ModelFamily(
        name="zipformer2-ctc",
        kind="streaming",
        factory="from_zipformer2_ctc",
        roles=("tokens", "model"),
        optional_roles=("graph", "bpe", f"model{CONTEXT}"),
        metadata={"model": _ZIPFORMER2},
        batches=True,
    ),
    ModelFamily(
        name="nemo-ctc-streaming",
        kind="streaming",
        factory="from_nemo_ctc",
        roles=("tokens", "model"),
        metadata={"model": ("window_size", "chunk_shift", "subsampling_factor", "vocab_size", *_NEMO_CACHE)},
        batches=True,
    ),
    ModelFamily(
        name="wenet-ctc-streaming",
        kind="streaming",
        factory="from_wenet_ctc",
        roles=("tokens", "model"),
        metadata={
            "model": (
                "head",
                "num_blocks",
                "output_size",
                "cnn_module_kernel",
                "right_context",
                "subsampling_factor",
                "vocab_size",
            )
        },
    ),
    ModelFamily(
        name="t-one-ctc",
        kind="streaming",
        factory="from_t_one_ctc",
        roles=("tokens", "model"),
        metadata={"model": ("frame_length_ms", "state_dim", "sample_rate")},
        batches=True,
        sample_rate_hz=8_000,
    ),
    ModelFamily(
        name="moonshine",
        kind="segment",
        factory="from_moonshine_v2",
        roles=("tokens", "encoder", "decoder"),
        writes_sentences=True,
    ),
    ModelFamily(
        name="whisper",
        kind="segment",
        factory="from_whisper",
        roles=("tokens", "encoder", "decoder"),
        writes_sentences=True,
        metadata={
            "encoder": (
                "n_mels",
                "n_text_layer",
                "n_text_ctx",
                "n_text_state",
                "n_vocab",
                "sot",
                "eot",
                "blank_id",
                "translate",
                "transcribe",
                "is_multilingual",
                "no_timestamps",
                "no_speech",
                "sot_sequence",
            )
        },
    ),
    ModelFamily(
        name="sense-voice",
        kind="segment",
        factory="from_sense_voice",
        roles=("tokens", "model"),
        metadata={
            "model": (
                "vocab_size",
                *_LFR,
                "normalize_samples",
                "with_itn",
                "without_itn",
                "lang_auto",
                "lang_zh",
                "lang_en",
                "lang_ja",
                "lang_ko",
                "lang_yue",
            )
        },
    ),
    ModelFamily(
        name="paraformer",
        kind="segment",
        factory="from_paraformer",
        roles=("tokens", "model"),
        metadata={"model": ("vocab_size", *_LFR)},
    ),
    ModelFamily(
        name="nemo-ctc",
        kind="segment",
        factory="from_nemo_ctc",
        roles=("tokens", "model"),
        metadata={"model": ("vocab_size", "subsampling_factor")},
    ),
    ModelFamily(
        name="wenet-ctc",
        kind="segment",
        factory="from_wenet_ctc",
        roles=("tokens", "model"),
        metadata={"model": ("vocab_size", "subsampling_factor")},
    ),
    ModelFamily(name="silero-vad", kind="vad", factory="", roles=("model",)),
    ModelFamily(
        name="punctuation-cnn-bilstm",
        kind="punctuation",
        factory="",
        roles=("model", "bpe"),
        metadata={"model": ("COMMA", "PERIOD", "QUESTION", "UPPER", "CAP", "MIX_CASE")},
    ),
    ModelFamily(
        name="speaker-embedding",
        kind="speaker",
        factory="",
        roles=("model",),
        metadata={"model": ("framework", "language", "sample_rate", "output_dim", "normalize_samples")},
    ),
    ModelFamily(
        name="nemo-speaker-embedding",
        kind="speaker",
        factory="",
        roles=("model",),
        metadata={
            "model": (
                "framework",
                "language",
                "sample_rate",
                "output_dim",
                "feat_dim",
                "window_size_ms",
                "window_stride_ms",
            )
        },
    ),
)

FAMILIES: Mapping[str, ModelFamily] = MappingProxyType({family.name: family for family in _FAMILIES})
"""Every family, by name."""
