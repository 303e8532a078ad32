"""PortAudio for real: a recording played into a sink, heard through its monitor, and the plug pulled meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pytest
from websockets.sync.client import connect

from edge_asr.audio import Float32Array
from edge_asr.sources.file import open_file
from tests.sources.conftest import read_all, s16le, tone
from tests.support.daemon import CLIPS, DaemonProcess
from tests.support.sound_server import DEVICE, SoundServer, needs_sound_server, sound_server

pytestmark = [needs_sound_server, pytest.mark.model]

RATE_HZ = 16_000
COMMAND = ("set-the-temperature-to-joe", "set the temperature to twenty five percent")
LEAD_S = 0.3
"""Silence before the first word: a sound server swallows the first hundredths of a second of what it is given."""
LONG = 4
"""Times that the long recording says the command, with hardly a pause."""

Event = dict[str, Any]


def write_wav(path: Path, samples: Float32Array) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(s16le(samples))
    return path


def command() -> Float32Array:
    return read_all(open_file(CLIPS / f"{COMMAND[0]}.flac"))


def silence(seconds: float) -> Float32Array:
    return np.zeros(round(seconds * RATE_HZ), np.float32)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SoundServer]:
    with sound_server(tmp_path_factory.mktemp("pulse")) as running:
        yield running


@pytest.fixture
def once(tmp_path: Path) -> Path:
    """The command, and silence enough to end it."""
    return write_wav(tmp_path / "once.wav", np.concatenate([silence(LEAD_S), command(), silence(2.0)]))


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """The command again and again, so that there is a middle in which the plug can be pulled."""
    return write_wav(tmp_path / "long.wav", np.concatenate([silence(LEAD_S), *([command()] * LONG)]))


class Listener:
    """``edge-asr listen --jsonl`` as a process."""

    def __init__(self, server: SoundServer, *options: str) -> None:
        words = [
            sys.executable,
            "-m",
            "edge_asr",
            "listen",
            "--device",
            DEVICE,
            "-m",
            "starter-en",
            "--jsonl",
            *options,
        ]
        self._process = subprocess.Popen(
            words, env=os.environ | server.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.heard: list[Event] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def wait(self, condition: Callable[[Event], object]) -> Event:
        """The first event from here on for which the condition holds."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.heard.append(json.loads(line))
            if condition(self.heard[-1]):
                return self.heard[-1]
        raise AssertionError(f"it ended after {self.heard}: {self._process.communicate()[1]}")

    def interrupt(self, times: int = 1) -> int:
        """Ctrl-C; its exit code, once everything it said is heard."""
        for _ in range(times):
            self._process.send_signal(signal.SIGINT)
        rest, _ = self._process.communicate(timeout=60)
        self.heard += map(json.loads, rest.splitlines())
        return self._process.returncode

    @property
    def finals(self) -> list[str]:
        return [event["text"] for event in self.heard if event["type"] == "final"]

    def states(self, *wanted: str) -> list[str]:
        said = [event["state"] for event in self.heard if event["type"] == "microphone"]
        return [state for state in said if state in wanted]


def is_state(state: str) -> Callable[[Event], bool]:
    return lambda event: event["type"] == "microphone" and event["state"] == state


def is_final(event: Event) -> bool:
    return bool(event["type"] == "final")


def is_midway(event: Event) -> bool:
    """A sentence of which some words are there: the first ones of a partial may still be others."""
    return event["type"] == "partial" and len(event["text"].split()) >= 3


def test_words_said_as_soon_as_the_microphone_is_open_are_all_there(server: SoundServer, once: Path) -> None:
    with Listener(server) as listener:
        listener.wait(is_state("listening"))  # the model may still be loading
        with server.playing(once):
            listener.wait(is_final)
        assert listener.interrupt() == 0
    assert listener.finals == [COMMAND[1]]


def test_a_signal_that_a_wrapper_sends_twice_still_lets_the_last_words_be_said(server: SoundServer, long: Path) -> None:
    with Listener(server) as listener:
        listener.wait(is_state("listening"))
        with server.playing(long):
            listener.wait(is_midway)
            assert listener.interrupt(times=2) == 0
    assert listener.states("stopped") == ["stopped"]
    assert listener.finals


def test_a_plug_pulled_in_the_middle_of_a_sentence_and_put_back(server: SoundServer, once: Path, long: Path) -> None:
    with Listener(server) as listener:
        listener.wait(is_state("listening"))
        with server.playing(long):
            listener.wait(is_midway)
            server.unplug()
        listener.wait(is_state("lost"))
        before = listener.wait(is_final)
        server.plug_in()
        listener.wait(is_state("back"))
        with server.playing(once):
            after = listener.wait(is_final)
        assert listener.interrupt() == 0
    assert before["reason"] == "end_of_audio"
    assert before["text"].startswith(COMMAND[1].split()[0])
    assert after["text"] == COMMAND[1]
    assert after["segment"] == before["segment"] + 1
    assert after["start_s"] > before["end_s"]
    assert listener.states("lost", "back") == ["lost", "back"]


def test_ctrl_c_in_the_middle_of_a_sentence_gives_its_final(server: SoundServer, long: Path) -> None:
    with Listener(server) as listener:
        listener.wait(is_state("listening"))
        with server.playing(long):
            listener.wait(is_midway)
            assert listener.interrupt() == 0
    assert listener.finals[-1].split()[0] == COMMAND[1].split()[0]


def test_network_sessions_go_on_when_the_daemons_microphone_is_lost(
    server: SoundServer, once: Path, long: Path
) -> None:
    with DaemonProcess("-m", "starter-en", "--mic", DEVICE, **server.environment) as daemon:
        address = daemon.http.replace("http", "ws")
        with connect(f"{address}/v1/mic") as mic, connect(f"{address}/v1/stream") as client:
            hear_until(mic, is_state("listening"), is_partial_state)
            client.send('{"type": "hello", "is_live": true}')
            client.send(s16le(command()[: RATE_HZ // 2]))
            with server.playing(long):
                hear_until(mic, is_midway)
                server.unplug()
            lost = hear_until(mic, is_state("lost"))
            client.send(s16le(command()[RATE_HZ // 2 :]))
            client.send('{"type": "finish"}')
            said = [json.loads(message) for message in client]
            server.plug_in()
            hear_until(mic, is_state("back"))
            with server.playing(once):
                assert hear_until(mic, is_final)["text"] == COMMAND[1]
        assert lost["device"] == DEVICE
        assert [event["text"] for event in said if event["type"] == "final"] == [COMMAND[1]]
        assert said[-1]["type"] == "ended"
        assert daemon.stop() == 0


def is_partial_state(event: Event) -> bool:
    """The state that a new reader hears first, when the microphone is open already."""
    return event["type"] == "microphone" and event["state"] in ("listening", "silent")


def hear_until(reader: Any, *conditions: Callable[[Event], bool]) -> Event:
    """The next event for which one of the conditions holds."""
    while True:
        event: Event = json.loads(reader.recv(timeout=60))
        if any(condition(event) for condition in conditions):
            return event


def test_the_meter_shows_what_is_played(server: SoundServer, tmp_path: Path) -> None:
    beep = write_wav(tmp_path / "beep.wav", np.concatenate([tone(0.5)] * 40))
    words = [sys.executable, "-m", "edge_asr", "devices", "--meter", "--json"]
    with server.playing(beep):
        listed = subprocess.run(words, env=os.environ | server.environment, capture_output=True, check=True)
    device = next(row for row in json.loads(listed.stdout) if row["name"] == DEVICE)
    assert device["peak_dbfs"] == pytest.approx(-6.0, abs=0.5)
    assert device["offset"] == pytest.approx(0, abs=0.01)
    assert (device["clipped"], device["problem"]) == (0, None)


def test_a_device_that_is_not_there_is_said_with_those_that_are(server: SoundServer) -> None:
    words = [sys.executable, "-m", "edge_asr", "listen", "--device", "webcam", "-m", "starter-en"]
    ran = subprocess.run(words, env=os.environ | server.environment, capture_output=True, text=True)
    assert ran.returncode == 5
    assert "no sound device 'webcam' records; those that do: captions, default" in ran.stderr
