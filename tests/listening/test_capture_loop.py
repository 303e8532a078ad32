"""From blocks of a sound card to pieces for the recogniser, with cards that no test machine has."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.listening.capture_loop import GONE, MUTE_DEVICE, SILENT_DEVICE, STUCK, CaptureLoop
from edge_asr.listening.messages import Captured, FromCapture, Lost
from edge_asr.sources.capture_ring import Block, CaptureRing
from edge_asr.sources.microphone import decode_frames
from tests.sources.conftest import tone


@dataclass
class ScriptedRing(CaptureRing):
    """Gives the blocks of a script, one at a time, and then none."""

    blocks: list[Block]

    def read(self, timeout_s: float) -> Block | None:
        return self.blocks.pop(0) if self.blocks else None


@dataclass
class ScriptedCard:
    ring: ScriptedRing
    rate_hz: int = 16_000
    channels: int = 1
    is_alive: bool = True


@dataclass
class Recording:
    """What a loop says about a script."""

    rate_hz: int = 16_000
    channels: int = 1
    is_alive: bool = True
    blocks: list[Block] = field(default_factory=list)
    now_s: float = 0.0

    def play(self, samples: Float32Array, *, hole_s: float = 0.0, has_overrun: bool = False) -> None:
        """Interleaved samples in blocks of 50 ms, on time; ``hole_s`` is lost before them."""
        self.now_s += hole_s
        step = self.rate_hz // 20 * self.channels
        for start in range(0, len(samples), step):
            piece = samples[start : start + step]
            frames = len(piece) // self.channels
            self.now_s += frames / self.rate_hz
            data = np.round(piece * 32767).astype("<i2").tobytes()
            self.blocks.append(Block(data, frames, round(self.now_s * 1e9), has_overrun and start == 0, 0))

    def run(self) -> tuple[list[Captured], FromCapture]:
        """Pieces, and the last words."""
        card = ScriptedCard(ScriptedRing(self.blocks), self.rate_hz, self.channels, self.is_alive)
        said: list[FromCapture] = []
        CaptureLoop(card, "mix", decode_frames, said.append).run()
        return [message for message in said if isinstance(message, Captured)], said[-1]


def heard(pieces: list[Captured]) -> Float32Array:
    return np.frombuffer(b"".join(piece.pcm for piece in pieces), "<i2").astype(np.float32) / np.float32(32_768)


def test_a_card_at_the_models_rate_is_passed_on_as_it_is() -> None:
    recording = Recording()
    recording.play(tone(1.0))
    pieces, last = recording.run()
    assert np.abs(heard(pieces) - tone(1.0)).max() < 0.01
    assert [len(piece.pcm) for piece in pieces] == [3200] * 10
    assert pieces[-1].captured_ns == 1_000_000_000
    assert last == Lost(SILENT_DEVICE)


def test_a_card_at_another_rate_and_with_more_channels_is_converted() -> None:
    recording = Recording(rate_hz=48_000, channels=2)
    left = tone(1.0, rate_hz=48_000)
    recording.play(np.column_stack([left, np.zeros_like(left)]).ravel())
    pieces, _ = recording.run()
    samples = heard(pieces)
    assert len(samples) == pytest.approx(16_000, abs=500)  # the resampler keeps its delay
    assert np.abs(samples[4000:12_000]).max() == pytest.approx(0.25, abs=0.01)


def test_audio_lost_by_the_card_is_a_declared_gap() -> None:
    recording = Recording()
    recording.play(tone(1.0))
    recording.play(tone(1.0), hole_s=0.4, has_overrun=True)
    pieces, _ = recording.run()
    gaps = [piece for piece in pieces if piece.gap_samples]
    assert [gap.gap_samples for gap in gaps] == [6400]
    assert sum(piece.overruns for piece in pieces) == 1
    samples_before = sum(len(piece.pcm) // 2 for piece in pieces[: pieces.index(gaps[0])])
    assert samples_before == 16_000
    assert sum(len(piece.pcm) // 2 + piece.gap_samples for piece in pieces) == 2.4 * 16_000


def test_direct_current_is_taken_out_and_levels_are_those_of_the_card() -> None:
    recording = Recording()
    recording.play(tone(1.0, amplitude=0.1) + np.float32(0.5))
    pieces, _ = recording.run()
    assert abs(float(heard(pieces).mean())) < 0.01
    assert pieces[0].peak_dbfs == pytest.approx(-4.44, abs=0.05)


def test_a_muted_microphone_is_said_to_be_silent_and_goes_on() -> None:
    recording = Recording()
    recording.play(np.zeros(6 * 16_000, np.float32))
    recording.play(tone(0.2))
    pieces, _ = recording.run()
    assert [pieces[0].is_silent, pieces[-3].is_silent, pieces[-1].is_silent] == [False, True, False]


def test_a_driver_that_repeats_one_value_is_lost() -> None:
    recording = Recording()
    recording.play(np.full(5 * 16_000, 0.25, np.float32))
    _, last = recording.run()
    assert last == Lost(STUCK)
    assert recording.blocks  # it gave up before their end


def test_a_card_that_is_known_to_be_gone_is_lost_at_once() -> None:
    recording = Recording(is_alive=False)
    recording.play(tone(0.5))
    assert recording.run()[1] == Lost(GONE)


def test_a_card_that_never_says_anything_is_lost() -> None:
    assert Recording().run() == ([], Lost(MUTE_DEVICE))
