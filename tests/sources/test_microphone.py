"""PortAudio over a sound device that ALSA makes of a file: a tone at half of full scale."""

from __future__ import annotations

import ctypes.util
import json
import math
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from edge_asr.errors import DeviceUnavailable, LibraryMissing
from edge_asr.sources.microphone import InputDevice, input_devices, measure_level

needs_portaudio = pytest.mark.skipif(ctypes.util.find_library("portaudio") is None, reason="PortAudio is not installed")

LIST = """
import dataclasses, json
from edge_asr.sources.microphone import input_devices, measure_level
rows = [dataclasses.asdict(device) | dataclasses.asdict(measure_level(device, 0.2)) for device in input_devices()]
print(json.dumps(rows))
"""


def record_with(sound: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these devices only; PortAudio looks for devices once in the life of a process."""
    environment = os.environ | {"ALSA_CONFIG_PATH": str(sound)}
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=True)


@pytest.fixture
def tone(tmp_path: Path) -> Path:
    """ALSA configuration with one device, which plays into our ears what stands in a file."""
    samples = (round(16_384 * math.sin(math.tau * 440 * n / 16_000)) for n in range(5 * 16_000))
    (tmp_path / "tone.raw").write_bytes(b"".join(struct.pack("<h", sample) for sample in samples))
    source = f'type file slave.pcm {{ type null }} file "/dev/null" infile "{tmp_path}/tone.raw" format "raw"'
    (tmp_path / "asound.conf").write_text(f"pcm.tone {{ {source} }}\npcm.!default {{ type plug slave.pcm tone }}\n")
    return tmp_path / "asound.conf"


@needs_portaudio
def test_a_device_is_listed_with_its_loudness(tone: Path) -> None:
    rows: list[dict[str, Any]] = json.loads(record_with(tone, "-c", LIST).stdout)
    assert [(row["name"], row["host_api"], row["is_default"]) for row in rows] == [
        ("tone", "ALSA", False),
        ("default", "ALSA", True),
    ]
    assert rows[0]["peak_dbfs"] == pytest.approx(-6.02, abs=0.01)
    assert rows[0]["rms_dbfs"] == pytest.approx(-9.03, abs=0.05)


@needs_portaudio
def test_what_the_sound_library_says_of_devices_stays_out_of_standard_error(tone: Path) -> None:
    tone.write_text(tone.read_text() + 'pcm.broken { type hw card "nowhere" }\n')
    assert record_with(tone, "-c", LIST).stderr == ""


@pytest.fixture
def nothing(tmp_path: Path) -> Path:
    """ALSA configuration that names a card which is not there."""
    (tmp_path / "asound.conf").write_text("pcm.absent { type hw card 99 }\n")
    return tmp_path / "asound.conf"


@needs_portaudio
def test_a_machine_without_devices_lists_none(nothing: Path) -> None:
    assert json.loads(record_with(nothing, "-c", LIST).stdout) == []


@needs_portaudio
def test_a_device_that_is_gone_is_said_so() -> None:
    gone = InputDevice(999, "USB microphone", "ALSA", 1, 16_000, is_default=False)
    with pytest.raises(DeviceUnavailable, match="sound device 'USB microphone': Error querying device 999"):
        measure_level(gone, 0.1)


def test_a_missing_library_is_said_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    with pytest.raises(LibraryMissing, match=r"PortAudio is not installed; .*sudo apt install libportaudio2"):
        input_devices()


@needs_portaudio
def test_the_command_lists_and_meters(tone: Path) -> None:
    printed = record_with(tone, "-m", "edge_asr", "devices", "--meter").stdout
    assert "  tone  (ALSA, 128 channels, 44100 Hz)\n    [###########################   ] peak -6.0 dB" in printed
    assert "* default" in printed


@needs_portaudio
def test_the_command_gives_json(tone: Path) -> None:
    rows = json.loads(record_with(tone, "-m", "edge_asr", "devices", "--json").stdout)
    assert [row["name"] for row in rows] == ["tone", "default"]


@needs_portaudio
def test_the_command_says_when_there_is_none(nothing: Path) -> None:
    ran = record_with(nothing, "-m", "edge_asr", "devices")
    assert (ran.stdout, "no sound device that records" in ran.stderr) == ("", True)
