"""The recordings that a quantized model was judged by, so that it can be measured again by the same ones."""

from __future__ import annotations

from pathlib import Path

import msgspec

from edge_asr.errors import InputError
from edge_asr.workload import Clip, load_clip, read_clips, sha256_of_audio

RECORD = "quantization.json"
"""What ``edge-asr quantize`` writes into a model's directory."""


class _Evaluation(msgspec.Struct):
    source: str
    sha256: tuple[str, ...]


class _Record(msgspec.Struct):
    evaluation: _Evaluation | None = None


def read_recordings(path: Path) -> tuple[Clip, ...]:
    """The recordings of a manifest, of a folder, or those that judged a quantized model.

    Args:
        path: As for :func:`~edge_asr.workload.read_clips`, or a ``quantization.json``. Of the manifest that it names,
            those recordings are taken that judged: a part may have calibrated. They are known by what is heard.

    Raises:
        InputError: There are none, or some of those that judged are not there any more.
    """
    if path.name != RECORD or not path.is_file():
        return read_clips(path)
    evaluation = _evaluation(path)
    wanted = set(evaluation.sha256)
    found = {clip: sha256_of_audio(load_clip(clip)) for clip in read_clips(Path(evaluation.source))}
    missing = len(wanted - set(found.values()))
    if missing:
        raise InputError(
            f"{path}: {missing} of the {len(wanted)} recordings that judged this model are not in {evaluation.source} "
            "any more; name a manifest of your own"
        )
    return tuple(clip for clip, sha256 in found.items() if sha256 in wanted)


def _evaluation(path: Path) -> _Evaluation:
    try:
        record = msgspec.json.decode(path.read_bytes(), type=_Record)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{path}: it is no record of a quantization: {error}") from error
    if record.evaluation is None:
        raise InputError(f"{path}: this model was judged by no recordings; name a manifest of your own")
    return record.evaluation
