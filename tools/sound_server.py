"""A sound card made of air: a PulseAudio of our own with a sink into which we play, and whose monitor records.

ALSA knows the monitor as ``captions``; taking the sink away is what pulling a USB plug is to a microphone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

DEVICE = "captions"

_PLUGIN = ("usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so", "usr/lib/alsa-lib/libasound_module_pcm_pulse.so")


def missing() -> str:
    """What such a card needs and this machine lacks; empty when all is there."""
    programs = [name for name in ("pulseaudio", "pactl", "paplay") if shutil.which(name) is None]
    has_plugin = any(list(Path("/").glob(pattern)) for pattern in _PLUGIN)
    return ", ".join([*programs, *([] if has_plugin else ["libasound2-plugins"])])


class SoundServer:
    """A running server; made by :func:`sound_server`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "asound.conf").write_text(
            f'pcm.{DEVICE} {{ type pulse device "{DEVICE}.monitor" }}\npcm.!default {{ type pulse }}\n',
            encoding="ascii",
        )

    @property
    def environment(self) -> Mapping[str, str]:
        """With this, programs find the server and no other sound device."""
        return {
            "ALSA_CONFIG_PATH": str(self._folder / "asound.conf"),
            "PULSE_SERVER": f"unix:{self._folder / 'socket'}",
            "XDG_RUNTIME_DIR": str(self._folder),
            "PULSE_COOKIE": str(self._folder / "cookie"),
        }

    def plug_in(self) -> None:
        """The card is there, and records silence."""
        self._control("load-module", "module-null-sink", f"sink_name={DEVICE}", "rate=48000")

    def unplug(self) -> None:
        """It is gone, in the middle of whatever it does."""
        self._control("unload-module", "module-null-sink")

    @contextlib.contextmanager
    def playing(self, recording: Path) -> Iterator[subprocess.Popen[bytes]]:
        """Play a WAV file, at the pace of sound; what is left of it is not played after the block."""
        with subprocess.Popen(
            ["paplay", f"--device={DEVICE}", str(recording)],
            env=os.environ | self.environment,
            stderr=subprocess.DEVNULL,
        ) as player:
            try:
                yield player
            finally:
                player.kill()

    def play(self, recording: Path) -> None:
        """Play a WAV file to its end."""
        with self.playing(recording) as player:
            player.wait()

    def _control(self, *words: str) -> None:
        subprocess.run(["pactl", *words], env=os.environ | self.environment, check=True, capture_output=True)


@contextlib.contextmanager
def sound_server(folder: Path) -> Iterator[SoundServer]:
    """Start a server with the card plugged in."""
    server = SoundServer(folder)
    words = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--log-level=error"]
    words += ["-L", f"module-native-protocol-unix socket={folder / 'socket'} auth-anonymous=1"]
    environment = os.environ | server.environment | {"HOME": str(folder)}
    with subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            while not (folder / "socket").exists():
                assert process.poll() is None, "pulseaudio has ended"
                time.sleep(0.01)
            server.plug_in()
            yield server
        finally:
            process.kill()
