from pathlib import Path

import numpy as np
import pytest
import soundfile

from edge_asr.errors import AudioNotFound, InputError
from edge_asr.quantize.evaluation_set import look_at, read_evaluation_set, require_apart, set_apart
from edge_asr.workload import Clip

RATE_HZ = 16_000


def write(folder: Path, texts: list[str], header: str = "audio\ttext", speakers: list[str] | None = None) -> Path:
    """A manifest of half-second recordings, each of another sound."""
    lines = [header]
    for number, text in enumerate(texts):
        samples = 0.1 * np.random.default_rng(number).standard_normal(RATE_HZ // 2)
        soundfile.write(folder / f"{number}.flac", samples, RATE_HZ)
        lines.append("\t".join([f"{number}.flac", text, *([speakers[number]] if speakers else [])]))
    path = folder / "manifest.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_words_are_counted_as_the_scorer_sees_them(tmp_path: Path):
    found = read_evaluation_set(write(tmp_path, ["Turn it on!", "twenty-one"]), "en")
    assert [recording.units for recording in found.recordings] == [3, 1]
    assert (found.metric, found.units, found.audio_s) == ("wer", 4, 1.0)


def test_characters_are_counted_where_the_language_wants_it(tmp_path: Path):
    found = read_evaluation_set(write(tmp_path, ["打开 灯"]), "zh")
    assert (found.metric, found.units) == ("cer", 3)


def test_a_recording_without_a_reference_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"1 recordings have no reference text, first '1\.flac'"):
        read_evaluation_set(write(tmp_path, ["one", ""]), "en")


def test_a_missing_recording_refuses_the_whole_set(tmp_path: Path):
    path = write(tmp_path, ["one", "two"])
    (tmp_path / "1.flac").unlink()
    with pytest.raises(AudioNotFound, match=r"1\.flac"):
        read_evaluation_set(path, "en")


def test_blocks_are_speakers_where_all_are_named(tmp_path: Path):
    path = write(tmp_path, ["a", "b", "c"], "audio\ttext\tspeaker", ["ann", "bob", "ann"])
    assert read_evaluation_set(path, "en").blocks == ["ann", "bob", "ann"]


def test_blocks_are_recordings_where_a_speaker_is_not_named(tmp_path: Path):
    path = write(tmp_path, ["a", "b"], "audio\ttext\tspeaker", ["ann", ""])
    assert read_evaluation_set(path, "en").blocks == ["0.flac", "1.flac"]


def test_audio_that_is_judged_is_refused_for_calibration_in_whatever_container(tmp_path: Path):
    evaluation = read_evaluation_set(write(tmp_path, ["one", "two"]), "en")
    samples, _ = soundfile.read(tmp_path / "1.flac", dtype="int16")
    soundfile.write(tmp_path / "other-name.wav", samples, RATE_HZ, subtype="PCM_16")
    calibration = look_at([Clip("other-name.wav", tmp_path / "other-name.wav")], "en")
    with pytest.raises(InputError, match=r"other-name\.wav: this calibration recording is in the evaluation set"):
        require_apart(calibration, evaluation)


def test_what_is_set_apart_does_not_judge(tmp_path: Path):
    evaluation = read_evaluation_set(write(tmp_path, [str(number) for number in range(10)]), "en")
    calibration, rest = set_apart(evaluation, share=0.3, seed=1)
    assert (len(calibration), len(rest.recordings)) == (3, 7)
    require_apart(calibration, rest)


def test_the_same_seed_sets_the_same_recordings_apart(tmp_path: Path):
    evaluation = read_evaluation_set(write(tmp_path, [str(number) for number in range(10)]), "en")
    first, second, other = (set_apart(evaluation, 0.3, seed)[0] for seed in (1, 1, 2))
    assert first == second
    assert first != other
