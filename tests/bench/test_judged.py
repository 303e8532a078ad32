"""A quantized model is measured again by the recordings that judged it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
import soundfile

from edge_asr.bench.judged import read_recordings
from edge_asr.errors import InputError
from edge_asr.workload import load_clip, read_clips, sha256_of_audio


def write_manifest(folder: Path) -> Path:
    for number in range(3):
        soundfile.write(folder / f"{number}.wav", np.full(160, 1000 * (number + 1), np.int16), 16_000)
    path = folder / "list.tsv"
    path.write_text("audio\ttext\n" + "".join(f"{number}.wav\tword {number}\n" for number in range(3)))
    return path


def write_record(folder: Path, source: Path | str, digests: list[str]) -> Path:
    path = folder / "quantization.json"
    path.write_bytes(msgspec.json.encode({"schema": 1, "evaluation": {"source": str(source), "sha256": digests}}))
    return path


def test_those_that_calibrated_are_left_out(tmp_path: Path) -> None:
    source = write_manifest(tmp_path)
    first, _, last = read_clips(source)
    record = write_record(tmp_path, source, [sha256_of_audio(load_clip(clip)) for clip in (first, last)])
    assert read_recordings(record) == (first, last)


def test_a_manifest_is_read_as_ever(tmp_path: Path) -> None:
    source = write_manifest(tmp_path)
    assert read_recordings(source) == read_clips(source)


def test_recordings_that_are_gone_are_missed(tmp_path: Path) -> None:
    record = write_record(tmp_path, write_manifest(tmp_path), ["0" * 64])
    with pytest.raises(
        InputError, match=r"1 of the 1 recordings that judged this model are not in .*list\.tsv any more"
    ):
        read_recordings(record)


def test_a_model_that_nobody_judged_says_so(tmp_path: Path) -> None:
    path = tmp_path / "quantization.json"
    path.write_text('{"schema": 1, "evaluation": null}')
    with pytest.raises(InputError, match="judged by no recordings"):
        read_recordings(path)


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "quantization.json"
    path.write_text("{")
    with pytest.raises(InputError, match="no record of a quantization"):
        read_recordings(path)
