"""``edge-asr batch`` on this machine, with the bundled model."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

import edge_asr
from edge_asr.batch.ledger import FILE, FOLDER

CLIPS = Path(edge_asr.__file__).parent / "clips"
NAMES = ("go-forward.flac", "five-five.flac", "will-it-rain-today-nova.flac")

pytestmark = pytest.mark.model


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    for name in NAMES:
        shutil.copy(CLIPS / name, folder)
    return folder


def ledger_places(output: Path) -> list[str]:
    lines = (output / FOLDER / FILE).read_text().splitlines()
    return [json.loads(line)["place"] for line in lines[1:]]


def test_words_are_those_of_transcribe(run, clips, tmp_path) -> None:
    ran = run("batch", "-m", "starter-en", "--format", "text", "-o", tmp_path / "out", clips)
    alone = run("transcribe", "-m", "starter-en", clips / "go-forward.flac")

    assert ran.status == 0, ran.err
    assert ran.out.startswith("3 heard, ")
    assert (tmp_path / "out" / "go-forward.flac.txt").read_text() == alone.out == "go forward ten meters\n"


def test_hotwords_of_the_configuration_are_expected_too(run, tmp_path, monkeypatch) -> None:
    names = tmp_path / "names.txt"
    names.write_text("coffee machine\n")
    monkeypatch.setenv("EDGE_ASR_ENGINE_HOTWORDS_FILE", str(names))
    clip = CLIPS / "switch-off-the-coffee-joe.flac"

    ran = run("batch", "-m", "starter-en-transducer", "--format", "text", "-o", tmp_path / "out", clip)

    assert ran.status == 0, ran.err
    assert (tmp_path / "out" / f"{clip.name}.txt").read_text() == "switch off the coffee machine in the closet\n"


def test_a_second_pass_that_cannot_be_is_refused_before_the_first_recording(run, clips, tmp_path) -> None:
    ran = run("batch", "-m", "starter-en", "--second-pass", "starter-en", "-o", tmp_path / "out", clips)

    assert ran.status == 2
    assert "second_pass.model = 'starter-en' does not hear whole segments" in ran.err
    assert not (tmp_path / "out").exists()


def test_bad_ones_are_named_at_the_end_and_again_in_the_next_run(run, clips, tmp_path) -> None:
    (clips / "bad.wav").write_bytes(b"RIFF")
    first = run("batch", "-m", "starter-en", "--json", "-o", tmp_path / "out", clips)
    second = run("batch", "-m", "starter-en", "--json", "-o", tmp_path / "out", clips)

    assert (first.status, second.status) == (3, 3)
    assert first.err.splitlines()[-1].startswith(f"edge-asr: error: {clips}/bad.wav: ")
    assert json.loads(first.out)["done"] == json.loads(second.out)["done_before"] == 3
    assert [entry["file"] for entry in json.loads(second.out)["bad"]] == [f"{clips}/bad.wav"]


def test_samples_without_a_header_are_heard_when_their_format_is_told(run, tmp_path) -> None:
    speech, rate = soundfile.read(CLIPS / "go-forward.flac", dtype="int16")
    folder = tmp_path / "calls"
    folder.mkdir()
    (folder / "one.pcm").write_bytes(speech.astype("<i2").tobytes())
    words = ("batch", "-m", "starter-en", "--format", "text", "-o", tmp_path / "out")

    ran = run(*words, "--raw", f"s16le:{rate}:1", folder)

    assert ran.status == 0, ran.err
    assert (tmp_path / "out" / "one.pcm.txt").read_text() == "go forward ten meters\n"
    again = run(*words, "--raw", f"s16le:{rate}", folder)  # one channel, where none is said
    assert (again.status, again.out.split(";")[1]) == (0, " 1 heard before\n")
    # Read as another format it would be heard as other words.
    other = run(*words, "--raw", f"s16le:{rate // 2}:1", folder)
    assert (other.status, "begun with other --raw" in other.err) == (2, True)


def test_a_raw_format_that_is_none_is_refused_before_the_model_is_looked_for(run, tmp_path) -> None:
    ran = run("batch", "-m", "nonesuch", "-o", tmp_path / "out", "--raw", "s16:16000", tmp_path)

    assert ran.status == 2
    assert "raw format 's16:16000': the encoding is one of" in ran.err


def test_each_channel_has_a_transcript_of_its_own(run, tmp_path) -> None:
    speech, rate = soundfile.read(CLIPS / "go-forward.flac")
    soundfile.write(tmp_path / "call.wav", np.stack([speech, np.zeros_like(speech)], axis=1), rate)

    run("batch", "-m", "starter-en", "--channel", "each", "-o", tmp_path / "out", tmp_path / "call.wav")

    texts = {path.name: json.loads(path.read_text())[0]["text"] for path in (tmp_path / "out").glob("*.json")}
    assert texts == {"call.wav.left.json": "go forward ten meters", "call.wav.right.json": ""}


def test_a_list_names_recordings(run, clips, tmp_path) -> None:
    (tmp_path / "list").write_text(f"# two\n{clips}/five-five.flac\n{clips}/go-forward.flac\n")
    run("batch", "-m", "starter-en", "--from", tmp_path / "list", "-o", tmp_path / "out")

    assert sorted(ledger_places(tmp_path / "out")) == ["five-five.flac", "go-forward.flac"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "no recordings: name files or folders"),
        (("x.wav", "--jobs", "2", "--scheduler", "tcp://h:1"), "--jobs counts processes of this machine"),
        (("--from", "/missing/list"), "the list of recordings cannot be read"),
        (("x.wav", "-o", ""), "-o is empty; name the folder for the transcripts"),
    ],
)
def test_words_that_do_not_go_together(run, tmp_path, words, sentence) -> None:
    ran = run("batch", "-o", tmp_path / "out", *words)

    assert ran.status in (2, 3)
    assert sentence in ran.err


def test_a_killed_run_is_continued_and_nothing_is_heard_twice(run, clips, tmp_path) -> None:
    for number in range(40):
        shutil.copy(CLIPS / "five-five.flac", clips / f"{number}.flac")
    output = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "edge_asr.cli.main",
        "batch",
        "-m",
        "starter-en",
        "--jobs",
        "1",
        "-o",
        output,
        clips,
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        while not (output / FOLDER / FILE).exists() or not ledger_places(output):
            assert killed.poll() is None
        killed.send_signal(signal.SIGKILL)
    heard_before = len(ledger_places(output))

    ran = run("batch", "-m", "starter-en", "--json", "-o", output, clips)

    report = json.loads(ran.out)
    assert 0 < heard_before < 43
    assert (report["done_before"], report["done"]) == (heard_before, 43 - heard_before)
    places = ledger_places(output)
    assert (len(places), len(set(places))) == (43, 43)
    assert len(list(output.glob("*.json"))) == 43


def test_a_cluster_has_no_second_pass(run, clips, tmp_path, monkeypatch) -> None:
    store = tmp_path / "store"
    monkeypatch.setenv("EDGE_ASR_HOME", str(store))
    ran = run(
        "batch",
        "-m",
        "starter-en",
        "--second-pass",
        "starter-en",
        "--scheduler",
        "tcp://127.0.0.1:9",
        "-o",
        tmp_path / "out",
        clips,
    )

    assert ran.status == 2
    assert "workers of a cluster have neither a second pass" in ran.err
