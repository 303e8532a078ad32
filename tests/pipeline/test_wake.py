from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.audio import Float32Array
from edge_asr.engines.base import Spotted
from edge_asr.pipeline.gate import EngineSteps, Gate, OpenGate, SilenceGate
from edge_asr.pipeline.wake import HELD_S, WakeGate
from edge_asr.settings import GateSettings

RATE_HZ = 1000
LISTEN = 1500
TAIL = EngineSteps(first=0, every=0, tail=300)


class PositionSpotter:
    """Finds its phrase when it has heard so many samples since it began, 100 samples after the phrase ended."""

    def __init__(self, after: int) -> None:
        self.heard = self.begun = 0
        self._after = after

    def hear(self, samples: Float32Array) -> Spotted | None:
        before, self.heard = self.heard, self.heard + len(samples)
        if before < self._after <= self.heard:
            return Spotted("hey computer", self.heard - self._after + 100)
        return None

    def begin(self) -> None:
        self.heard = 0
        self.begun += 1


def a_gate(spotter: PositionSpotter, behind: Gate | None = None, ear: Gate | None = None) -> WakeGate:
    return WakeGate(spotter, ear or OpenGate(), behind or OpenGate(), LISTEN, RATE_HZ)


def sound(count: int) -> Float32Array:
    return np.sin(np.arange(count)).astype(np.float32)


def let_through(gate: WakeGate, audio: Float32Array, piece: int = 100) -> tuple[Float32Array, int]:
    """What came out, and how much was skipped."""
    passages = [each for at in range(0, len(audio), piece) for each in gate.take(audio[at : at + piece])]
    samples = [passage.samples for passage in passages] or [audio[:0]]
    return np.concatenate(samples), sum(passage.skipped_samples for passage in passages)


def test_asleep_nothing_is_let_through() -> None:
    gate = a_gate(PositionSpotter(after=10_000))
    samples, _ = let_through(gate, sound(3000))
    assert not len(samples)
    assert gate.is_closed
    assert gate.held_samples == HELD_S * RATE_HZ
    assert gate.kept_samples == 3000 - gate.held_samples


def test_what_follows_the_phrase_is_let_through_from_its_end_on() -> None:
    gate, audio = a_gate(PositionSpotter(after=1250)), sound(3000)
    samples, skipped = let_through(gate, audio)
    assert samples.tolist() == audio[1150:].tolist()
    assert (skipped, gate.kept_samples, gate.take_phrase(), gate.take_phrase()) == (1150, 1150, "hey computer", "")


@given(st.lists(st.integers(1, 700), max_size=10))
def test_cuts_lose_nothing_and_say_nothing_twice(cuts: list[int]) -> None:
    gate, audio, begin = a_gate(PositionSpotter(after=1250)), sound(4000), 0
    passages = []
    for cut in (*cuts, len(audio)):
        passages += gate.take(audio[begin : begin + cut])
        begin += cut
    heard = np.concatenate([passage.samples for passage in passages])
    assert sum(passage.skipped_samples for passage in passages) + len(heard) == len(audio)
    assert heard.tolist() == audio[len(audio) - len(heard) :].tolist()


def test_after_a_final_the_phrase_is_needed_again() -> None:
    spotter = PositionSpotter(after=500)
    gate = a_gate(spotter)
    let_through(gate, sound(1000))
    gate.settle()
    assert gate.is_closed
    samples, skipped = let_through(gate, sound(400))
    assert not len(samples)
    samples, skipped = let_through(gate, sound(400))
    assert (len(samples), skipped) == (400, 400)  # 800, of which the phrase ended 400 before


def test_after_a_while_of_silence_too() -> None:
    gate = a_gate(PositionSpotter(after=500), ear=SilenceGate(GateSettings(), RATE_HZ, TAIL))
    let_through(gate, sound(1000))
    assert not gate.is_closed
    let_through(gate, np.zeros(LISTEN, np.float32))
    assert not gate.is_closed  # the gate before the spotter closes after a while only
    let_through(gate, np.zeros(1000, np.float32))
    assert gate.is_closed


def test_in_a_quiet_room_the_spotter_hears_nothing() -> None:
    spotter = PositionSpotter(after=10_000)
    gate = a_gate(spotter, ear=SilenceGate(GateSettings(), RATE_HZ, TAIL))
    let_through(gate, np.zeros(1000, np.float32))
    before = spotter.heard
    let_through(gate, np.zeros(60_000, np.float32))
    assert spotter.heard == before


def test_silence_between_the_phrase_and_the_request_is_skipped_by_the_gate_behind() -> None:
    behind = SilenceGate(GateSettings(pre_roll_ms=0), RATE_HZ, TAIL)
    gate = a_gate(PositionSpotter(after=500), behind)
    audio = np.concatenate((sound(600), np.zeros(3000, np.float32), sound(500)))
    samples, skipped = let_through(gate, audio)
    assert len(samples) + skipped == len(audio)
    assert skipped > 2000
    assert samples[-500:].tolist() == audio[-500:].tolist()


def test_lost_audio_is_counted_once_and_what_was_held_before_it_is_gone() -> None:
    gate = a_gate(PositionSpotter(after=500))
    let_through(gate, sound(300))
    assert gate.interrupt() == 300
    assert gate.interrupt() == 0
    samples, skipped = let_through(gate, sound(500))
    assert (len(samples), skipped) == (100, 400)


def test_a_fresh_stream_begins_where_the_client_is() -> None:
    gate = a_gate(PositionSpotter(after=500))
    let_through(gate, sound(300))
    gate.begin_stream()
    samples, skipped = let_through(gate, sound(200))
    assert (len(samples), skipped) == (100, 100)
    assert gate.kept_samples == 400


def test_a_session_that_goes_on_is_awake_until_nothing_is_said() -> None:
    ear = SilenceGate(GateSettings(), RATE_HZ, TAIL)
    gate = WakeGate(PositionSpotter(after=10_000), ear, OpenGate(), LISTEN, RATE_HZ, is_asleep=False)
    samples, skipped = let_through(gate, sound(1000))
    assert (len(samples), skipped) == (1000, 0)
    let_through(gate, np.zeros(LISTEN + 1000, np.float32))
    assert gate.is_closed
