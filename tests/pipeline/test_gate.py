from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_asr.audio import Float32Array
from edge_asr.pipeline.gate import EngineSteps, OpenGate, Passage, SilenceGate
from edge_asr.settings import GateSettings

RATE_HZ = 1000
"""A frame has 20 samples; positions are milliseconds."""
SETTINGS = GateSettings(pre_roll_ms=100, hang_over_ms=60)
TAIL = 140
"""With the hang-over 200 ms."""
ANYWHERE = EngineSteps(0, 0, TAIL)


def gate(steps: EngineSteps = ANYWHERE) -> SilenceGate:
    return SilenceGate(SETTINGS, RATE_HZ, steps)


def sound(count: int) -> Float32Array:
    return np.where(np.arange(count) % 2, np.float32(0.3), np.float32(-0.3)).astype(np.float32)


def silence(count: int) -> Float32Array:
    return np.zeros(count, np.float32)


def pieces(audio: Float32Array, size: int) -> list[Float32Array]:
    return [audio[start : start + size] for start in range(0, len(audio), size)]


def spans(passages: list[Passage]) -> list[tuple[int, int]]:
    """What was let through, as positions of the audio that went in; neighbours are joined."""
    found: list[tuple[int, int]] = []
    position = 0
    for passage in passages:
        position += passage.skipped_samples
        end = position + len(passage.samples)
        if found and not passage.skipped_samples:
            found[-1] = (found[-1][0], end)
        elif end > position:
            found.append((position, end))
        position = end
    return found


AUDIO = np.concatenate([sound(500), silence(1000), sound(300), silence(150), sound(50), silence(900)])
"""Sound to 500, from 1500 to 1800 and from 1950 to 2000; ends at 2900."""
HEARD = [(0, 700), (1400, 2200)]
"""With pre-roll and hang-over; the short pause is no silence."""


@pytest.mark.parametrize("size", [1, 7, 20, 100, 333, 2900])
def test_sound_is_let_through_with_what_is_around_it_however_it_is_cut(size: int) -> None:
    closing = gate()
    passages = [passage for piece in pieces(AUDIO, size) for passage in closing.take(piece)]
    assert spans(passages) == HEARD
    let_through = np.concatenate([passage.samples for passage in passages])
    assert np.array_equal(let_through, np.concatenate([AUDIO[begin:end] for begin, end in HEARD]))
    assert (closing.is_closed, closing.held_samples, closing.kept_samples) == (True, 100, 700 + 600)


def test_sound_soon_after_closing_takes_only_what_is_held() -> None:
    closing = gate()
    closing.take(np.concatenate([sound(100), silence(220)]))
    (passage,) = closing.take(sound(40))
    assert (passage.skipped_samples, len(passage.samples)) == (0, 20 + 40)


def test_an_interruption_gives_up_what_is_held() -> None:
    closing = gate()
    closing.take(silence(500))
    assert closing.interrupt() == 300
    assert (closing.is_closed, closing.held_samples, closing.kept_samples) == (True, 0, 300)
    (passage,) = closing.take(sound(40))
    assert (passage.skipped_samples, len(passage.samples)) == (0, 40)


def test_an_open_gate_has_nothing_to_give_up() -> None:
    for passing in (gate(), OpenGate()):
        passing.take(sound(100))
        assert (passing.interrupt(), passing.is_closed, passing.kept_samples) == (0, False, 0)


def test_silence_from_the_beginning_closes_the_gate_too() -> None:
    assert spans(gate().take(silence(1000))) == [(0, 200)]


def test_the_gate_closes_with_a_step_of_the_engine() -> None:
    # Steps at 130, 290, 450 and so on; the silence that would do without them is over at 500 - 160 + 200.
    steps = EngineSteps(130, 160, TAIL)
    assert spans(gate(steps).take(np.concatenate([sound(500), silence(1000)]))) == [(0, 620)]


def test_steps_are_counted_by_what_was_let_through_to_the_stream() -> None:
    closing = gate(EngineSteps(130, 160, TAIL))
    closing.take(np.concatenate([sound(500), silence(1000)]))
    assert spans(closing.take(np.concatenate([sound(90), silence(410)]))) == [(780, 1100)]


def test_steps_of_a_fresh_stream_are_counted_anew() -> None:
    closing = gate(EngineSteps(130, 160, TAIL))
    closing.take(sound(505))
    closing.begin_stream()
    assert spans(closing.take(silence(500))) == [(0, 135)]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 400)), max_size=12), st.integers(10, 300))
@settings(deadline=None)
def test_every_sample_is_let_through_skipped_or_held_once(parts: list[tuple[bool, int]], size: int) -> None:
    audio = np.concatenate([silence(0), *(sound(count) if is_loud else silence(count) for is_loud, count in parts)])
    closing = gate()
    passages = [passage for piece in pieces(audio, size) for passage in closing.take(piece)]
    let_through = sum(len(passage.samples) for passage in passages)
    assert let_through + closing.kept_samples + closing.held_samples == len(audio)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=6),
    st.sampled_from([ANYWHERE, EngineSteps(130, 160, TAIL), EngineSteps(-30, 160, TAIL)]),
)
@settings(deadline=None)
def test_it_is_known_when_silence_closes_an_open_gate(parts: list[tuple[bool, int]], steps: EngineSteps) -> None:
    closing = gate(steps)
    for is_loud, frames in parts:
        closing.take(sound(20 * frames) if is_loud else silence(20 * frames))
    if closing.is_closed:
        assert closing.closes_in == 0
        return
    assert closing.closes_in is not None
    closing.take(silence(closing.closes_in - 1))
    assert (closing.is_closed, closing.closes_in) == (False, 1)
    closing.take(silence(1))
    assert closing.is_closed


def test_a_gate_that_is_switched_off_never_closes() -> None:
    assert OpenGate().closes_in is None
