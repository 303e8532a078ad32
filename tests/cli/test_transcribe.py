"""``edge-asr transcribe``: most of it with an engine that replays a script, some of it with the bundled model."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

import edge_asr
from edge_asr.cli import transcription_job
from edge_asr.clock import ManualClock
from edge_asr.engines.base import StreamOptions
from edge_asr.engines.scripted import ScriptedEngine, ScriptedStream, ScriptedWord
from edge_asr.pipeline.writing import NO_MODEL, WritingBook
from edge_asr.settings import TextSettings
from edge_asr.workers.loaded_model import LoadedModel
from tests.sources.conftest import s16le, tone

CLIPS = Path(edge_asr.__file__).parent / "clips"


class SpeakingEngine(ScriptedEngine):
    """Says "go" and "forward"; remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__([ScriptedWord(" go", 0.4, -0.1), ScriptedWord(" forward", 0.9, -0.1)])
        self.options: list[StreamOptions] = []
        self.is_closed = False

    def open_stream(self, options: StreamOptions) -> ScriptedStream:
        self.options.append(options)
        return super().open_stream(options)

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> SpeakingEngine:
    speaking = SpeakingEngine()
    monkeypatch.setattr(transcription_job, "load_model", lambda _configure: LoadedModel(speaking, ("en",)))
    return speaking


@pytest.fixture
def wav(tmp_path: Path) -> Path:
    path = tmp_path / "one.wav"
    soundfile.write(path, tone(1.5), 16_000)
    return path


def stereo(path: Path) -> Path:
    soundfile.write(path, np.stack([tone(1.5), tone(0.6).repeat(3)[:24_000]], axis=1), 16_000)
    return path


def pipe_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.usefixtures("engine")
class TestFormats:
    def test_text(self, run, wav) -> None:
        ran = run("transcribe", wav)

        assert (ran.status, ran.out) == (0, "go forward\n")

    def test_text_of_several_names_each(self, run, wav) -> None:
        assert run("transcribe", wav, wav).out == f"{wav}: go forward\n" * 2

    def test_json(self, run, wav) -> None:
        (entry,) = json.loads(run("transcribe", "-m", "starter-en", "--format", "json", wav).out)

        assert (entry["file"], entry["model"], entry["duration_s"]) == (str(wav), "starter-en", 1.5)
        assert [word["word"] for word in entry["segments"][0]["words"]] == ["go", "forward"]
        assert entry["rtf"] > 0

    def test_jsonl(self, run, wav) -> None:
        lines = run("transcribe", "--format", "jsonl", wav, wav).out.splitlines()

        assert [json.loads(line)["text"] for line in lines] == ["go forward"] * 2

    def test_srt_and_vtt(self, run, wav) -> None:
        assert run("transcribe", "--format", "srt", wav).out.endswith("\ngo forward\n\n")
        assert run("transcribe", "--format", "vtt", wav).out.startswith("WEBVTT\n\n00:00:00.")


@pytest.mark.usefixtures("engine")
class TestOutput:
    def test_to_a_file(self, run, wav, tmp_path) -> None:
        ran = run("transcribe", "-o", tmp_path / "out.txt", wav)

        assert (ran.status, ran.out) == (0, "")
        assert (tmp_path / "out.txt").read_text() == "go forward\n"

    def test_to_a_directory_that_is_made(self, run, wav, tmp_path) -> None:
        run("transcribe", "--format", "srt", "-o", f"{tmp_path}/subtitles/", wav)

        assert (tmp_path / "subtitles" / "one.srt").read_text().startswith("1\n")

    def test_several_subtitles_need_a_directory(self, run, wav) -> None:
        ran = run("transcribe", "--format", "srt", wav, wav)

        assert (ran.status, ran.out) == (2, "")
        assert "srt holds one recording; name a directory" in ran.err

    def test_two_recordings_never_share_a_file(self, run, wav, tmp_path) -> None:
        ran = run("transcribe", "-o", f"{tmp_path}/out/", wav, tmp_path / "other" / "one.flac")

        assert ran.status == 2
        assert "would both be written to" in ran.err

    def test_a_place_that_cannot_be_written_is_said_before_any_work(self, run, engine, wav, tmp_path) -> None:
        ran = run("transcribe", "-o", tmp_path / "missing" / "out.txt", wav)

        assert ran.status == 2
        assert "cannot write" in ran.err
        assert engine.options == []


def test_what_the_model_lacks_is_said_once_for_all_recordings(run, wav, monkeypatch) -> None:
    book = WritingBook(TextSettings(punctuation=True), ("en",))
    loaded = LoadedModel(SpeakingEngine(), ("en",), writing=book)
    monkeypatch.setattr(transcription_job, "load_model", lambda _configure: loaded)

    ran = run("transcribe", "--punctuation", "--format", "jsonl", wav, wav)

    assert ran.err.count("install the model") == 1
    assert [json.loads(line)["warnings"] for line in ran.out.splitlines()] == [[NO_MODEL], [NO_MODEL]]


@pytest.mark.usefixtures("engine")
class TestBadRecordings:
    def test_a_bad_one_is_named_and_the_others_are_done(self, run, wav, tmp_path) -> None:
        (tmp_path / "empty.wav").write_bytes(b"")

        ran = run("transcribe", tmp_path / "empty.wav", wav, tmp_path / "missing.wav")

        assert ran.status == 3
        assert ran.out == f"{wav}: go forward\n"
        assert ran.err.splitlines()[-2:] == [
            f"edge-asr: error: {tmp_path}/empty.wav: the file is empty",
            f"edge-asr: error: {tmp_path}/missing.wav: no such audio file",
        ]

    def test_json_lists_those_that_could_be_done(self, run, wav, tmp_path) -> None:
        ran = run("transcribe", "--format", "json", tmp_path / "missing.wav", wav)

        assert [entry["file"] for entry in json.loads(ran.out)] == [str(wav)]

    def test_subtitles_of_nothing_are_not_written(self, run, tmp_path) -> None:
        ran = run("transcribe", "--format", "vtt", tmp_path / "missing.wav")

        assert (ran.status, ran.out) == (3, "")

    def test_a_warning_is_said_and_listed(self, run, tmp_path) -> None:
        soundfile.write(tmp_path / "phone.wav", tone(1.5, 8000), 8000)

        ran = run("transcribe", "--format", "json", tmp_path / "phone.wav")

        (warning,) = json.loads(ran.out)[0]["warnings"]
        assert warning.startswith("8000 Hz is the telephone band")
        assert f"edge-asr: warning: {tmp_path}/phone.wav: {warning}\n" in ran.err

    def test_samples_that_are_no_numbers_are_warned_of_once(self, run, tmp_path) -> None:
        samples = tone(1.5)
        samples[100] = np.nan
        soundfile.write(tmp_path / "nan.wav", samples, 16_000, subtype="FLOAT")

        (entry,) = json.loads(run("transcribe", "--format", "json", tmp_path / "nan.wav").out)

        assert entry["text"] == "go forward"
        assert entry["warnings"] == ["1 samples are not finite numbers and count as silence"]


@pytest.mark.usefixtures("engine")
class TestStandardInput:
    def test_a_container(self, run, monkeypatch, wav) -> None:
        pipe_in(monkeypatch, wav.read_bytes())

        assert run("transcribe", "-").out == "go forward\n"

    def test_raw_samples(self, run, monkeypatch) -> None:
        pipe_in(monkeypatch, s16le(tone(1.5)))

        (entry,) = json.loads(run("transcribe", "--format", "json", "--raw", "s16le:16000:1", "-").out)

        assert (entry["file"], entry["duration_s"], entry["text"]) == ("-", 1.5, "go forward")

    def test_nothing(self, run, monkeypatch) -> None:
        pipe_in(monkeypatch, b"")
        ran = run("transcribe", "-")

        assert ran.status == 3
        assert "edge-asr: error: standard input: " in ran.err

    def test_twice_is_refused(self, run) -> None:
        assert run("transcribe", "-", "-").status == 2

    def test_a_terminal_is_refused(self, run, monkeypatch) -> None:
        pipe_in(monkeypatch, b"")
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
        ran = run("transcribe", "-")

        assert ran.status == 2
        assert "pipe one into it" in ran.err

    def test_a_named_pipe_is_read_like_it(self, run, wav, tmp_path) -> None:
        os.mkfifo(tmp_path / "fifo")
        with subprocess.Popen(["cp", wav, tmp_path / "fifo"]):
            assert run("transcribe", tmp_path / "fifo").out == "go forward\n"

    def test_each_channel_of_it(self, run, monkeypatch, tmp_path) -> None:
        pipe_in(monkeypatch, stereo(tmp_path / "two.wav").read_bytes())

        assert run("transcribe", "--channel", "each", "-").out == "- (left): go forward\n- (right): go forward\n"


@pytest.mark.usefixtures("engine")
class TestChannels:
    def test_each_by_itself(self, run, tmp_path) -> None:
        path = stereo(tmp_path / "two.wav")

        entries = json.loads(run("transcribe", "--channel", "each", "--format", "json", path).out)

        assert [(entry["channel"], entry["text"]) for entry in entries] == [
            ("left", "go forward"),
            ("right", "go forward"),
        ]

    def test_each_into_files_of_their_own(self, run, tmp_path) -> None:
        path = stereo(tmp_path / "two.wav")
        run("transcribe", "--channel", "each", "-o", f"{tmp_path}/out/", path)

        assert sorted(made.name for made in (tmp_path / "out").iterdir()) == ["two.left.txt", "two.right.txt"]

    def test_each_of_mono_is_the_only_one(self, run, wav) -> None:
        assert run("transcribe", "--channel", "each", wav).out == f"{wav} (mono): go forward\n"


class TestPartials:
    def test_they_go_to_standard_error(self, run, engine, wav) -> None:
        ran = run("transcribe", "--partials", wav)

        assert ran.out == "go forward\n"
        assert ran.err.splitlines()[-2:] == ["partial: go", "partial: go forward"]

    @pytest.mark.usefixtures("engine")
    def test_jsonl_has_them_as_lines(self, run, wav) -> None:
        lines = [
            json.loads(line) for line in run("transcribe", "--partials", "--format", "jsonl", wav).out.splitlines()
        ]

        assert [line.get("type") for line in lines] == ["partial", "partial", "final", None]

    def test_nobody_waits_without_them(self, run, engine, wav) -> None:
        run("transcribe", wav)
        run("transcribe", "--partials", wav)

        assert [options.is_batch for options in engine.options] == [True, False]


def test_the_model_is_loaded_once_and_closed(run, monkeypatch, wav) -> None:
    loads = []
    engine = SpeakingEngine()

    def load(configure: object) -> LoadedModel:
        loads.append(configure)
        return LoadedModel(engine, ("en",))

    monkeypatch.setattr(transcription_job, "load_model", load)
    run("transcribe", wav, wav, wav)

    assert len(loads) == 1
    assert engine.is_closed


def test_what_the_model_cannot_hear_is_said_once(run, engine, wav) -> None:
    err = run("transcribe", "-m", "starter-en", wav, wav).err

    assert err.count("edge-asr: note: starter-en hears 961 command words only") == 1


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["-m", "starter"], 4, "model 'starter' is not installed; did you mean 'starter-en'?"),
        (["-m", "/nonexistent/dir"], 4, "there is no such directory"),
        (["--raw", "mp3:1"], 2, "raw format 'mp3:1'"),
        (["--channel", "middle"], 2, "'middle' is not one of"),
        (["--provider", ""], 2, "engine.provider is empty"),
    ],
)
def test_what_cannot_be_asked_for_is_said_in_one_line(run, wav, arguments, status, sentence) -> None:
    ran = run("transcribe", *arguments, wav)

    assert (ran.status, ran.out) == (status, "")
    assert sentence in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.model
class TestWithTheBundledModel:
    def test_commands_are_heard(self, run) -> None:
        ran = run("transcribe", "-m", "starter-en", CLIPS / "go-forward.flac", CLIPS / "five-five.flac")

        assert ran.status == 0
        assert [line.split(": ")[1] for line in ran.out.splitlines()] == ["go forward ten meters", "five five"]

    def test_commands_are_heard_where_onnxruntime_is_not_built(self, tmp_path) -> None:
        """As on armv7 (docs/install.md); the engine brings a runtime of its own."""
        (tmp_path / "onnxruntime.py").write_text("raise ImportError('not built for this machine')")
        search = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "edge_asr", "transcribe", "-m", "starter-en", str(CLIPS / "go-forward.flac")]
        ran = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": search}, capture_output=True, text=True, check=False
        )

        assert ran.stdout == "go forward ten meters\n", ran.stderr

    def test_a_provider_nobody_knows(self, run) -> None:
        ran = run("transcribe", "-m", "starter-en", "--provider", "warp", CLIPS / "five-five.flac")

        assert ran.status == 2
        assert "unknown provider 'warp'" in ran.err

    def test_a_provider_that_is_not_in_this_build(self, run) -> None:
        ran = run("transcribe", "-m", "starter-en", "--provider", "rknn", CLIPS / "five-five.flac")

        assert ran.status == 5
        assert "provider 'rknn' is not available here" in ran.err

    def test_the_pace_of_speech(self, run, monkeypatch) -> None:
        clock = ManualClock()
        monkeypatch.setattr(transcription_job, "MonotonicClock", lambda: clock)
        monkeypatch.setattr("edge_asr.cli.transcription_job.time.sleep", lambda s: clock.advance_ms(s * 1000))

        ran = run("transcribe", "-m", "starter-en", "--realtime", CLIPS / "five-five.flac")

        assert ran.out == "five five\n"
        assert clock.now_ns() == pytest.approx(1.554e9, abs=1e6)  # the last piece is due at the end of the recording

    def test_an_expected_phrase_is_heard_and_what_was_skipped_is_said(self, run, tmp_path) -> None:
        names = tmp_path / "names.txt"
        names.write_text("an alarm\n50%\n")
        words = ("transcribe", "-m", "starter-en-transducer", CLIPS / "set-an-alarm-for-joe.flac")

        assert run(*words).out == "sut amal for quarter past one\n"
        ran = run(*words, "--hotwords", names)
        assert ran.out == "set an alarm for quarter past one\n"
        assert "names.txt: hotwords: 1 loaded, 1 skipped: line 2: the word '50%' cannot be spelled" in ran.err

    def test_a_model_that_cannot_expect_anything(self, run, tmp_path) -> None:
        (tmp_path / "names.txt").write_text("coffee machine\n")
        ran = run("transcribe", "-m", "starter-en", "--hotwords", tmp_path / "names.txt", CLIPS / "five-five.flac")

        assert ran.status == 2
        assert "model 'starter-en' (zipformer2-ctc) cannot use the hotwords" in ran.err
