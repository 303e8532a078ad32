from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator
from queue import Queue

import pytest

from edge_asr.audio import AudioChunk
from edge_asr.clock import MonotonicClock
from edge_asr.engines.base import Engine
from edge_asr.engines.scripted import ScriptedEngine
from edge_asr.errors import AudioUnreadable
from edge_asr.events import Failed, Final, SessionEnded, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.sessions.credit import Credit, unconfirmed_s
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.loop_figures import Progress
from edge_asr.sessions.runner import Runner
from edge_asr.settings import SchedulerSettings
from tests.sessions.conftest import RULES, SayingEngine, chunk, of_kind

PATIENCE_S = 30
"""A bound for a test that fails; nothing waits so long."""


class Daemon:
    """A runner, and what it says."""

    def __init__(
        self,
        engine: Engine,
        recordings: dict[str, Iterable[AudioChunk]],
        scheduler: SchedulerSettings = SchedulerSettings(backlog_s=2.0),  # noqa: B008  frozen
    ) -> None:
        self.events: Queue[TranscriptEvent] = Queue()
        self.credits: Queue[tuple[str, Credit]] = Queue()
        self.deaths: Queue[BaseException] = Queue()
        self.told: list[str] = []
        """On the decode thread, in order: names of events, and ``all`` whenever all was said."""
        self.settled: list[tuple[str, Progress]] = []
        loop = DecodeLoop(engine, RULES, scheduler, MonotonicClock())
        self.runner = Runner(
            loop,
            sink=self._say,
            settle=self._settled,
            credit=lambda session_id, credit: self.credits.put((session_id, credit)),
            open_recording=lambda path, _options: recordings[path],
            on_death=self.deaths.put,
            on_said=lambda: self.told.append("all"),
        )
        self.runner.start()

    def _say(self, event: TranscriptEvent) -> None:
        self.told.append(type(event).__name__)
        self.events.put(event)

    def _settled(self, session_id: str, progress: Progress, finals: tuple[Final, ...]) -> None:
        self.settled.append((session_id, progress))
        for final in finals:
            self._say(final)

    def until_the_end(self, session_id: str) -> list[TranscriptEvent]:
        said = []
        while True:
            event = self.events.get(timeout=PATIENCE_S)
            said.append(event)
            if event.session_id == session_id and isinstance(event, (SessionEnded, Failed)):
                return said


@pytest.fixture
def recordings() -> dict[str, Iterable[AudioChunk]]:
    return {}


@pytest.fixture
def daemon(engine: SayingEngine, recordings: dict[str, Iterable[AudioChunk]]) -> Iterator[Daemon]:
    daemon = Daemon(engine, recordings)
    yield daemon
    daemon.runner.stop()
    assert daemon.deaths.empty()


def test_audio_of_another_thread_becomes_events(daemon: Daemon, engine: SayingEngine) -> None:
    engine.scripts = [[(200, "hello")]]
    daemon.runner.open("a", SessionOptions(sample_rate_hz=4000))
    daemon.runner.audio("a", bytes(8000))
    daemon.runner.finish("a")
    events = daemon.until_the_end("a")
    assert [final.text for final in of_kind(events, Final)] == ["hello"]


def test_credit_is_given_for_what_was_consumed(daemon: Daemon) -> None:
    daemon.runner.open("a", SessionOptions(sample_rate_hz=4000))
    daemon.runner.audio("a", bytes(8000))
    totals = [0]
    while totals[-1] < 6000:  # the last quarter of a second may stay uncredited
        session_id, credit = daemon.credits.get(timeout=PATIENCE_S)
        assert session_id == "a"
        totals.append(credit.consumed_bytes)
    assert totals == sorted(totals)
    assert totals[-1] <= 8000


@pytest.mark.parametrize("accumulate_ms", [0, 60, 300])
@pytest.mark.parametrize("piece_ms", [5, 65, 85, 240, 290])
def test_of_what_was_sent_no_more_stays_unconfirmed_than_is_promised(
    engine: SayingEngine, accumulate_ms: int, piece_ms: int
) -> None:
    """Whoever waits until all is decoded but for so much would else wait for ever."""
    daemon = Daemon(engine, {}, SchedulerSettings(accumulate_ms=accumulate_ms))
    daemon.runner.open("a", SessionOptions(sample_rate_hz=4000))
    is_done, sent, confirmed = threading.Event(), 0, 0
    for _ in range(2000 // piece_ms):
        sent += 8 * piece_ms
        daemon.runner.audio("a", bytes(8 * piece_ms))
        daemon.runner.ask(lambda _loop: is_done.set())
        assert is_done.wait(PATIENCE_S)
        is_done.clear()
        daemon.runner.ask(lambda _loop: is_done.set())  # in the round after: what was decoded is told now
        assert is_done.wait(PATIENCE_S)
        is_done.clear()
        while not daemon.credits.empty():
            confirmed = daemon.credits.get()[1].consumed_bytes
        assert sent - confirmed <= 8000 * unconfirmed_s(accumulate_ms)
    daemon.runner.stop()


def test_a_recording_is_read_and_finished(
    daemon: Daemon, engine: SayingEngine, recordings: dict[str, Iterable[AudioChunk]]
) -> None:
    engine.scripts = [[(200, "hello"), (29_900, "bye")]]
    recordings["x.wav"] = [chunk(500) for _ in range(60)]
    daemon.runner.open("a", SessionOptions(is_batch=True))
    daemon.runner.recording("a", "x.wav", 3600)
    events = daemon.until_the_end("a")
    assert [final.text for final in of_kind(events, Final)] == ["hello", "bye"]
    assert of_kind(events, SessionEnded)[0].audio_s == 30.0


def test_nobody_is_given_credit_for_a_recording(recordings: dict[str, Iterable[AudioChunk]]) -> None:
    recordings["x.wav"] = [chunk(500) for _ in range(60)]
    daemon = Daemon(ScriptedEngine(chunk_ms=320), recordings)
    daemon.runner.open("a", SessionOptions(is_batch=True))
    daemon.runner.recording("a", "x.wav", 3600)
    assert of_kind(daemon.until_the_end("a"), SessionEnded)[0].audio_s == 30.0
    daemon.runner.stop()
    assert daemon.credits.empty()


def test_a_recording_longer_than_allowed_fails_its_session(
    daemon: Daemon, recordings: dict[str, Iterable[AudioChunk]]
) -> None:
    recordings["x.wav"] = (chunk(500) for _ in iter(int, 1))
    daemon.runner.open("a", SessionOptions(is_batch=True))
    daemon.runner.recording("a", "x.wav", 10)
    (failed,) = of_kind(daemon.until_the_end("a"), Failed)
    assert (failed.code, "10 s" in failed.message) == ("limit_exceeded", True)


def test_an_unreadable_recording_fails_its_session_only(
    daemon: Daemon, recordings: dict[str, Iterable[AudioChunk]]
) -> None:
    def unreadable() -> Iterator[AudioChunk]:
        raise AudioUnreadable("x.wav", "it is a shopping list")
        yield chunk(1)

    recordings["x.wav"] = unreadable()
    daemon.runner.open("a", SessionOptions())
    daemon.runner.open("b", SessionOptions())
    daemon.runner.recording("a", "x.wav", 10)
    (failed,) = of_kind(daemon.until_the_end("a"), Failed)
    assert (failed.code, failed.message) == ("audio_unreadable", "x.wav: it is a shopping list")
    daemon.runner.finish("b")
    assert of_kind(daemon.until_the_end("b"), SessionEnded)


def test_a_session_that_cannot_be_opened_fails_alone(daemon: Daemon) -> None:
    daemon.runner.open("a", SessionOptions())
    daemon.runner.open("a", SessionOptions())
    (failed,) = of_kind(daemon.until_the_end("a"), Failed)
    assert "open already" in failed.message


def test_fifty_sessions_half_of_them_dropped_leave_nothing_behind(daemon: Daemon, engine: SayingEngine) -> None:
    for number in range(50):
        daemon.runner.open(str(number), SessionOptions(sample_rate_hz=4000))
        daemon.runner.audio(str(number), bytes(3000))
    for number in range(50):
        (daemon.runner.cancel if number % 2 else daemon.runner.finish)(str(number))
    for number in range(0, 50, 2):
        daemon.until_the_end(str(number))
    left: Queue[int] = Queue()
    daemon.runner.ask(lambda loop: left.put(len(loop)))
    assert left.get(timeout=PATIENCE_S) == 0
    assert all(stream.is_closed for stream in engine.streams)


def test_a_fault_of_the_program_is_reported_and_not_swallowed(engine: SayingEngine) -> None:
    daemon = Daemon(engine, {})
    daemon.runner.ask(lambda loop: loop.open("a", 1 // len(loop)))  # type: ignore[arg-type]
    assert isinstance(daemon.deaths.get(timeout=PATIENCE_S), ZeroDivisionError)


def test_stopping_ends_the_thread(engine: SayingEngine) -> None:
    before = threading.active_count()
    Daemon(engine, {}).runner.stop()
    assert threading.active_count() == before


def test_whoever_passes_it_on_is_told_when_all_of_a_step_is_said(daemon: Daemon, engine: SayingEngine) -> None:
    engine.scripts = [[(200, "hello")]]
    daemon.runner.open("a", SessionOptions(sample_rate_hz=4000))
    daemon.runner.audio("a", bytes(8000))
    daemon.runner.finish("a")
    daemon.until_the_end("a")
    daemon.runner.stop()
    told = [name for name, _ in itertools.groupby(daemon.told)]
    assert told[told.index("SessionEnded") + 1] == "all"
