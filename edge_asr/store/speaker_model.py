"""What sherpa-onnx takes for granted of a speaker embedding model: it ends the process over anything else.

As its 2.0.1 sources read them: ``framework`` chooses the loader, ``feature_normalize_type`` may be left out, features
have 80 bins unless NeMo's metadata say otherwise, and the length of the embedding is read from the second axis of an
output, the first one or, of NeMo's models, the second.
"""

from __future__ import annotations

from collections.abc import Mapping

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import ModelFamily
from edge_asr.store.model_header import OnnxHeader

FRAMEWORKS: Mapping[str, tuple[str, ...]] = {
    "speaker-embedding": ("3d-speaker", "wespeaker"),
    "nemo-speaker-embedding": ("nemo",),
}
"""Family to the values of ``framework`` that its loader takes."""

_NORMALIZATIONS = {"speaker-embedding": ("", "global-mean"), "nemo-speaker-embedding": ("", "per_feature")}
_INPUTS = {"speaker-embedding": 1, "nemo-speaker-embedding": 2}
_EMBEDDING_OUTPUT = {"speaker-embedding": 0, "nemo-speaker-embedding": 1}

_AT_LEAST_ONE = ("output_dim", "feat_dim", "window_size_ms", "window_stride_ms", "sample_rate")


def check_speaker_model(model: str, family: ModelFamily, network: OnnxHeader) -> None:
    """Check what the metadata keys mean, and that the graph is one of that kind; the keys are there.

    Raises:
        ModelUnsupported: The engine would refuse it, or take it for something else.
        ModelDamaged: A size in its metadata makes no sense, or the graph has another.
    """
    _check_choice(model, network, "framework", FRAMEWORKS[family.name])
    _check_choice(model, network, "feature_normalize_type", _NORMALIZATIONS[family.name])
    for key in _AT_LEAST_ONE:
        if int(network.metadata.get(key, "1")) < 1:
            raise ModelDamaged(model, f"its metadata say {key} = {network.metadata[key]}; export it again")
    inputs, output = _INPUTS[family.name], _EMBEDDING_OUTPUT[family.name]
    if len(network.inputs) != inputs or len(network.outputs) <= output:
        raise ModelUnsupported(
            model,
            f"its network has {len(network.inputs)} inputs and {len(network.outputs)} outputs; a {family.name} has "
            f"{inputs} and at least {output + 1}",
        )
    _check_embedding(model, network, output)


def _check_choice(model: str, network: OnnxHeader, key: str, known: tuple[str, ...]) -> None:
    value = network.metadata.get(key, "")
    if value not in known:
        listed = ", ".join(repr(each) for each in known if each)
        raise ModelUnsupported(model, f"its metadata say {key} = {value!r}, and the engine knows {listed}")


def _check_embedding(model: str, network: OnnxHeader, output: int) -> None:
    dims, stated = network.outputs[output].dims, int(network.metadata["output_dim"])
    if dims and len(dims) != 2:
        raise ModelUnsupported(
            model, f"its output {network.outputs[output].name} has {len(dims)} axes; an embedding has 2"
        )
    size = dims[1] if dims else 0
    if isinstance(size, int) and size not in (0, stated):
        raise ModelDamaged(model, f"its metadata say output_dim = {stated}, and its embeddings have {size} numbers")
