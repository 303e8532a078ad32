from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.clock import ManualClock
from edge_asr.engines.base import Hypothesis, Token, TokenConstraint
from edge_asr.engines.passes import GIVING_WAY
from edge_asr.engines.second_pass import FORGOTTEN_S, MARGIN_S, BackgroundPass, InlinePass, hear
from edge_asr.errors import EngineFailed

RATE_HZ = 16_000
PATIENCE_S = 30.0
VOICE = (0.1 * np.sin(np.arange(RATE_HZ))).astype(np.float32)
QUIET = np.zeros(2 * RATE_HZ, np.float32)


class Echo:
    """Hears one word at the beginning of what it is given."""

    sample_rate_hz = RATE_HZ
    max_segment_s = 30.0

    def __init__(self, clock: ManualClock | None = None) -> None:
        self.given: list[int] = []
        self.niceness: list[int] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self._clock = clock

    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:
        assert self.may_go_on.wait(PATIENCE_S)
        if self._clock is not None:
            self._clock.advance_ms(2000)
        self.given.append(len(samples))
        self.niceness.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return Hypothesis("word", (Token(" word", MARGIN_S),), len(samples))


class Broken(Echo):
    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:
        raise EngineFailed("broken")


def test_only_the_loud_part_is_heard_and_times_are_those_of_the_whole() -> None:
    echo = Echo()
    heard = hear(echo, np.concatenate((QUIET, VOICE, QUIET)))
    assert heard is not None
    assert echo.given[0] == pytest.approx((1 + 2 * MARGIN_S) * RATE_HZ, abs=0.04 * RATE_HZ)
    assert heard.tokens[0].start_s == pytest.approx(2.0, abs=0.04)
    assert heard.decoded_samples == 5 * RATE_HZ


def test_speech_from_the_first_sample_on_is_heard_from_there() -> None:
    echo = Echo()
    heard = hear(echo, VOICE)
    assert heard is not None
    assert (echo.given, heard.tokens[0].start_s) == ([RATE_HZ], MARGIN_S)


def test_a_model_that_fails_says_nothing() -> None:
    assert hear(Broken(), VOICE) is None
    assert InlinePass(Broken()).begin(VOICE).result is None


def test_inline_is_done_at_once() -> None:
    second = InlinePass(Echo())
    underway = second.begin(VOICE)
    assert underway.is_done
    assert underway.result is not None
    assert underway.result.text == "word"
    assert second.expected_s(10 * RATE_HZ) == 0.0


def test_in_the_background_it_gives_way_and_tells_when_it_is_done() -> None:
    echo, done = Echo(), threading.Event()
    second = BackgroundPass(echo, ManualClock(1), done.set)
    underway = second.begin(VOICE)
    assert done.wait(PATIENCE_S)
    assert underway.is_done
    assert underway.result is not None
    mine = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert echo.niceness == [max(mine, GIVING_WAY)]
    second.close()


def test_what_waits_and_what_passes_took_is_expected_of_the_next() -> None:
    clock = ManualClock(1)
    echo, done = Echo(clock), threading.Semaphore(0)
    second = BackgroundPass(echo, clock, done.release)
    assert second.expected_s(RATE_HZ) == 0.0
    second.begin(VOICE)
    assert done.acquire(timeout=PATIENCE_S)
    assert second.expected_s(RATE_HZ) == pytest.approx(2.0)
    echo.may_go_on.clear()
    second.begin(VOICE)
    assert second.expected_s(RATE_HZ) == pytest.approx(4.0)
    echo.may_go_on.set()
    assert done.acquire(timeout=PATIENCE_S)
    second.close()


def test_a_busy_while_is_forgotten() -> None:
    clock, done = ManualClock(1), threading.Event()
    second = BackgroundPass(Echo(clock), clock, done.set)
    second.begin(VOICE)
    assert done.wait(PATIENCE_S)
    clock.advance_ms(1000 * FORGOTTEN_S)
    assert second.expected_s(RATE_HZ) == pytest.approx(1.0)
    second.close()


def test_a_pass_that_nobody_waits_for_is_not_begun() -> None:
    echo, done = Echo(), threading.Semaphore(0)
    second = BackgroundPass(echo, ManualClock(1), done.release)
    echo.may_go_on.clear()
    second.begin(VOICE)
    late = second.begin(VOICE)
    late.give_up()
    assert done.acquire(timeout=PATIENCE_S)
    echo.may_go_on.set()
    assert done.acquire(timeout=PATIENCE_S)
    assert (late.is_done, late.result) == (True, None)
    assert len(echo.given) == 1
    second.close()
