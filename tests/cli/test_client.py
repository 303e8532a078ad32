"""``edge-asr client`` against real doors with a scripted recogniser behind them."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from edge_asr.events import Failed, Notice
from tests.cli.conftest import Run
from tests.support.background import in_background
from tests.support.doors import http_door, wyoming_door
from tests.support.recognizer import ScriptedRecognizer

CLIPS = Path(__file__).parents[2] / "edge_asr" / "clips"
CLIP = CLIPS / "five-five.flac"


@dataclass
class Doors:
    recognizer: ScriptedRecognizer
    http: str
    wyoming: str

    def url(self, protocol: str) -> str:
        return self.wyoming if protocol == "wyoming" else self.http


@asynccontextmanager
async def opened(**settings: Any) -> AsyncIterator[Doors]:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer, **settings) as http, wyoming_door(recognizer) as wyoming:
        yield Doors(recognizer, http, wyoming)


@pytest.fixture
def doors() -> Iterator[Doors]:
    with in_background(opened) as made:
        yield made


PROTOCOLS = pytest.mark.parametrize("protocol", ["native", "wyoming", "vosk", "sherpa", "openai", "realtime"])
WITH_CODES = pytest.mark.parametrize("protocol", ["native", "wyoming", "openai", "realtime"])
"""Vosk's and sherpa-onnx's protocols have no message for what goes wrong, only the reason of the close."""


@PROTOCOLS
def test_the_text_comes_on_standard_output_and_the_latency_on_standard_error(
    run: Run, doors: Doors, protocol: str
) -> None:
    ran = run("client", "--protocol", protocol, doors.url(protocol), CLIP)
    assert (ran.status, ran.out) == (0, "go forward\n")
    assert f"{CLIP}: " in ran.err
    assert "ms after the last" in ran.err


@pytest.mark.parametrize("protocol", ["native", "wyoming", "vosk", "sherpa", "realtime"])
def test_partials_come_on_standard_error(run: Run, doors: Doors, protocol: str) -> None:
    ran = run("client", "--protocol", protocol, doors.url(protocol), CLIP)
    assert "partial: go\n" in ran.err
    assert "first partial" in ran.err


def test_the_recording_is_sent_whole_and_at_its_own_rate(run: Run, doors: Doors, tmp_path: Path) -> None:
    ran = run("client", doors.http, CLIP)
    session = doors.recognizer.sessions[0]
    assert session.options.sample_rate_hz == 16_000
    assert f"{len(session.audio) / 32_000:.2f} s of audio" in ran.err
    assert len(session.audio) > 32_000


def test_an_upload_is_the_file_byte_for_byte(run: Run, doors: Doors) -> None:
    run("client", "--protocol", "openai", doors.http, CLIP)
    assert doors.recognizer.sessions[0].recording == CLIP.read_bytes()


@PROTOCOLS
def test_json_is_one_event_per_line_and_the_latencies(run: Run, doors: Doors, protocol: str) -> None:
    lines = [
        json.loads(line)
        for line in run("client", "--json", "--protocol", protocol, doors.url(protocol), CLIP).out.splitlines()
    ]
    assert {line["file"] for line in lines} == {str(CLIP)}
    assert [line["text"] for line in lines if line["type"] == "final"] == ["go forward"]
    assert lines[-2]["type"] == "ended"
    assert lines[-1]["type"] == "latencies"
    assert lines[-1]["final_s"] > 0


def test_a_bad_file_is_named_and_the_others_are_sent(run: Run, doors: Doors, tmp_path: Path) -> None:
    ran = run("client", doors.http, tmp_path / "none.wav", CLIP)
    assert (ran.status, ran.out) == (3, "go forward\n")
    assert f"error: {tmp_path / 'none.wav'}: no such audio file" in ran.err


def test_several_files_are_summed_up(run: Run, doors: Doors) -> None:
    assert "2 recordings: end of audio to final" in run("client", doors.http, CLIP, CLIP).err


@pytest.mark.parametrize(
    ("code", "status"), [("audio_unreadable", 3), ("model_not_found", 4), ("worker_died", 5), ("engine_failed", 5)]
)
@WITH_CODES
def test_a_failed_session_has_the_exit_code_of_its_reason(
    run: Run, doors: Doors, protocol: str, code: str, status: int
) -> None:
    doors.recognizer.failure = Failed("s0", code, "it went wrong")
    ran = run("client", "--protocol", protocol, doors.url(protocol), CLIP)
    assert (ran.status, ran.out) == (status, "")
    assert f"error: {CLIP}: it went wrong" in ran.err


@pytest.mark.parametrize("protocol", ["vosk", "sherpa"])
def test_the_reason_of_a_close_is_said(run: Run, doors: Doors, protocol: str) -> None:
    doors.recognizer.failure = Failed("s0", "worker_died", "it went wrong", is_retryable=True)
    ran = run("client", "--protocol", protocol, doors.url(protocol), CLIP)
    assert (ran.status, ran.out) == (5, "")
    assert "it went wrong" in ran.err


@pytest.mark.parametrize(("protocol", "rate"), [("vosk", 16_000), ("sherpa", 16_000), ("realtime", 24_000)])
def test_each_protocol_gets_audio_at_a_rate_it_takes(run: Run, doors: Doors, protocol: str, rate: int) -> None:
    run("client", "--protocol", protocol, "--language", "en", doors.http, CLIP)
    session = doors.recognizer.sessions[0]
    assert (session.options.sample_rate_hz, session.options.language) == (rate, "en")
    duration_s = len(session.audio) / session.options.bytes_per_second
    assert duration_s == pytest.approx(1.554, abs=0.01)


@PROTOCOLS
def test_language_model_and_hotwords_are_asked_for_in_the_protocols_own_words(
    run: Run, doors: Doors, protocol: str
) -> None:
    wanted = ("--language", "en", "--model", "starter-en", "--hotword", "kitchen", "--hotword", "living room")
    run("client", "--protocol", protocol, *wanted, doors.url(protocol), CLIP)
    options = doors.recognizer.sessions[0].options
    assert (options.language, options.model, options.hotwords) == ("en", "starter-en", ("kitchen", "living room"))


@PROTOCOLS
def test_how_texts_are_written_is_asked_for_in_every_protocol(run: Run, doors: Doors, protocol: str) -> None:
    run("client", "--protocol", protocol, "--itn", "--no-punctuation", doors.url(protocol), CLIP)
    options = doors.recognizer.sessions[0].options
    assert (options.itn, options.punctuation) == (True, False)


def test_what_the_daemon_has_to_say_of_a_session_is_a_warning(run: Run, doors: Doors) -> None:
    doors.recognizer.first_word = Notice("s0", "language_ignored", "no installed model speaks 'de'")
    ran = run("client", "--protocol", "native", "--language", "de", doors.http, CLIP)
    assert f"warning: {CLIP}: no installed model speaks 'de'" in ran.err


@pytest.mark.parametrize("scheme", ["http", "ws", "tcp", "unix"])
def test_nobody_at_the_address_is_said_with_the_next_step(run: Run, scheme: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url = f"unix://{tmp_path}/none" if scheme == "unix" else f"{scheme}://127.0.0.1:{port}"
    ran = run("client", url, CLIP)
    assert ran.status == 5
    reason = "No such file or directory" if scheme == "unix" else "Connection refused"
    assert f"no daemon answers at {url}: {reason}; " in ran.err
    assert "start one with `edge-asr serve`" in ran.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--protocol", "openai", "--realtime", "http://x"), "--realtime has no meaning with --protocol openai"),
        (("--protocol", "openai", "tcp://x:1"), "it begins with http://, https://"),
        (("127.0.0.1:8765",), "is no address of a daemon"),
        (("http://x:y",), "is no address of a daemon"),
        (("--hotword", "a" * 201, "http://x"), "a hotword of 201 characters: at most 200 are accepted"),
    ],
)
def test_words_that_do_not_go_together_exit_2(run: Run, words: tuple[str, ...], sentence: str) -> None:
    ran = run("client", *words, CLIP)
    assert ran.status == 2
    assert sentence in ran.err


@PROTOCOLS
def test_without_a_url_it_is_the_daemon_of_this_machines_configuration(
    run: Run, doors: Doors, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGE_ASR_SERVER_PORT", doors.http.rpartition(":")[2])
    monkeypatch.setenv("EDGE_ASR_SERVER_WYOMING", doors.wyoming)
    ran = run("client", "--protocol", protocol, CLIP)
    assert (ran.status, ran.out) == (0, "go forward\n")


def test_without_a_url_the_token_is_that_of_the_configuration(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("t" * 32)
    token_file.chmod(0o600)
    with in_background(lambda: opened(token_file=str(token_file))) as doors:
        monkeypatch.setenv("EDGE_ASR_SERVER_PORT", doors.http.rpartition(":")[2])
        monkeypatch.setenv("EDGE_ASR_SERVER_TOKEN_FILE", str(token_file))
        assert run("client", CLIP).out == "go forward\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "no recordings: name files, or - for standard input"),
        (("http://127.0.0.1:8765",), "no recordings: name files behind http://127.0.0.1:8765, or - for standard input"),
    ],
)
def test_recordings_that_are_missing_are_named_and_not_the_url(run: Run, words: tuple[str, ...], sentence: str) -> None:
    ran = run("client", *words)
    assert (ran.status, ran.err) == (2, f"edge-asr: error: {sentence}\n")


@pytest.mark.parametrize("protocol", ["native", "vosk", "sherpa", "openai", "realtime"])
def test_a_daemon_with_a_token_wants_it(run: Run, tmp_path: Path, protocol: str) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("t" * 32)
    token_file.chmod(0o600)
    with in_background(lambda: opened(token_file=str(token_file))) as doors:
        refused = run("client", "--protocol", protocol, doors.http, CLIP)
        assert (refused.status, "wants a token; name the file" in refused.err) == (2, True)
        accepted = run("client", "--protocol", protocol, "--token-file", token_file, doors.http, CLIP)
        assert (accepted.status, accepted.out) == (0, "go forward\n")
