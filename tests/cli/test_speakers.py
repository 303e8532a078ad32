"""``edge-asr speakers``, and what ``transcribe`` says of those enrolled."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from tests.cli.conftest import Run
from tests.support.tiny_speaker import MANIFEST, RATE_HZ, voice, write_installed

pytestmark = pytest.mark.model

CLIP = Path(__file__).resolve().parents[2] / "edge_asr" / "clips" / "turn-on-the-lights-emma.flac"


@pytest.fixture
def home(alone: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A store with a speaker model."""
    home = tmp_path / "store"
    write_installed(home / "models" / MANIFEST.name)
    monkeypatch.setenv("EDGE_ASR_HOME", str(home))
    return home


def wav(path: Path, samples: npt.NDArray[np.float32]) -> Path:
    soundfile.write(path, samples, RATE_HZ)
    return path


def test_a_voice_is_enrolled_listed_and_forgotten(run: Run, home: Path, tmp_path: Path) -> None:
    recordings = [wav(tmp_path / f"{seed}.wav", voice(200, seed=seed)) for seed in range(2)]
    enrolled = run("speakers", "enroll", "Anna B.", *recordings)
    assert (enrolled.status, enrolled.out) == (0, "Anna B.\n")
    assert "warning" not in enrolled.err
    (entry,) = json.loads(run("speakers", "list", "--json").out)
    assert entry == {
        "name": "Anna B.",
        "model": MANIFEST.name,
        "recordings": 2,
        "speech_s": pytest.approx(3.0, abs=0.2),
    }
    assert run("speakers", "list").out.startswith("Anna B.  2 recordings")
    assert run("speakers", "remove", "Anna B.").status == 0
    assert run("speakers", "list").out == ""


def test_recordings_that_cannot_be_used_are_named_and_the_others_taken(run: Run, home: Path, tmp_path: Path) -> None:
    good, short = wav(tmp_path / "good.wav", voice(200)), wav(tmp_path / "short.wav", voice(200, 0.2))
    ran = run("speakers", "enroll", "Anna", tmp_path / "missing.wav", short, good)
    assert (ran.status, ran.out) == (3, "Anna\n")
    assert "missing.wav" in ran.err
    assert "short.wav: there is less than 0.5 s of speech" in ran.err


def test_where_no_recording_can_be_used_nobody_is_enrolled(run: Run, home: Path, tmp_path: Path) -> None:
    ran = run("speakers", "enroll", "Anna", wav(tmp_path / "short.wav", voice(200, 0.2)))
    assert (ran.status, ran.out) == (3, "")
    assert not (home / "speakers").exists()


def test_somebody_elses_recording_and_a_voice_like_anothers_are_said(run: Run, home: Path, tmp_path: Path) -> None:
    low, high = (wav(tmp_path / f"{pitch}.wav", voice(pitch)) for pitch in (110, 350))
    assert "350.wav is unlike the other recordings" in run("speakers", "enroll", "Anna", low, high).err
    run("speakers", "enroll", "Anna", low)
    assert "the voice of Bob is like that of Anna (1.00)" in run("speakers", "enroll", "Bob", low).err


def test_a_model_that_tells_no_speakers_apart_is_refused(run: Run, home: Path, tmp_path: Path) -> None:
    ran = run("speakers", "enroll", "Anna", "-m", "starter-en", wav(tmp_path / "a.wav", voice(200)))
    assert ran.status == 4
    assert "does not tell speakers apart" in ran.err


def test_without_any_model_it_is_said_how_to_get_one(
    run: Run, alone: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EDGE_ASR_HOME", str(tmp_path / "empty"))
    ran = run("speakers", "enroll", "Anna", wav(tmp_path / "a.wav", voice(200)))
    assert ran.status == 2
    assert "edge-asr models import" in ran.err


def test_nobody_of_that_name_can_be_forgotten(run: Run, home: Path) -> None:
    ran = run("speakers", "remove", "Zoe")
    assert (ran.status, "no speaker 'Zoe' was enrolled; enrolled: nobody" in ran.err) == (2, True)


def test_a_damaged_voice_is_said(run: Run, home: Path) -> None:
    (home / "speakers").mkdir()
    (home / "speakers" / "Anna.json").write_text("{}", encoding="utf-8")
    ran = run("speakers", "list")
    assert (ran.status, ran.out, "Anna.json is damaged" in ran.err) == (0, "", True)


def test_transcripts_name_the_speaker_by_two_lines_of_configuration(run: Run, home: Path, tmp_path: Path) -> None:
    configuration = tmp_path / "edge-asr.toml"
    configuration.write_text('[speakers]\nmodel = "tiny-speaker"\nthreshold = 0.9\n', encoding="utf-8")
    run("speakers", "enroll", "Emma", CLIP)
    run("speakers", "enroll", "Low", wav(tmp_path / "low.wav", voice(80)))
    ran = run("transcribe", "--config", configuration, "-m", "starter-en", "--format", "json", CLIP)
    ((segment,),) = (recording["segments"] for recording in json.loads(ran.out))
    assert segment["text"] == "turn on the lights"
    assert segment["speaker"]["name"] == "Emma"
    assert segment["speaker"]["score"] == pytest.approx(1.0, abs=0.05)


def test_who_is_alone_in_a_store_is_not_taken_for_everybody(run: Run, home: Path, tmp_path: Path) -> None:
    configuration = tmp_path / "edge-asr.toml"
    configuration.write_text('[speakers]\nmodel = "tiny-speaker"\nthreshold = 0.9\n', encoding="utf-8")
    run("speakers", "enroll", "Low", wav(tmp_path / "low.wav", voice(80)))
    ran = run("transcribe", "--config", configuration, "-m", "starter-en", "--format", "json", CLIP)
    ((segment,),) = (recording["segments"] for recording in json.loads(ran.out))
    assert segment["speaker"]["name"] is None
