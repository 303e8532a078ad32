"""Whom a session of the pool takes for the cause when its workers end; no process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import msgspec
import pytest

from edge_asr.clock import ManualClock
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import GateMark, LeadIn, SessionOptions
from edge_asr.settings import SchedulerSettings
from edge_asr.workers.messages import Consumed, Ready, SessionAudio, Settled
from edge_asr.workers.session import MOST_LOSSES, PoolSession, SessionContext
from edge_asr.workers.supervisor import Supervisor

SECOND = 32_000


class Worker:
    """Takes everything and says nothing."""

    state = "ready"

    def __init__(self) -> None:
        self.sent: list[object] = []
        self.ready: Ready | None = None

    def send(self, message: object) -> None:
        self.sent.append(message)

    async def drained(self) -> None:
        """At once."""


@pytest.fixture
async def session() -> PoolSession:
    context = SessionContext(SchedulerSettings(), Instruments(new_registry()), ManualClock(), lambda _session: None)
    made = PoolSession("a", SessionOptions(), "test", cast("Supervisor", Worker()), context)
    await made.send(bytes(10 * SECOND))
    return made


async def test_the_same_place_alone_twice_is_the_cause(session: PoolSession) -> None:
    session.credit(Consumed("a", 2 * SECOND))
    assert session.lose_worker({"a"})
    session.resume()
    session.credit(Consumed("a", 2 * SECOND + SECOND // 4))
    assert not session.lose_worker({"a"})


async def test_another_place_is_chance(session: PoolSession) -> None:
    session.credit(Consumed("a", 2 * SECOND))
    assert session.lose_worker({"a"})
    session.resume()
    session.credit(Consumed("a", 4 * SECOND))
    assert session.lose_worker({"a"})


async def test_in_company_nobody_is_known_to_be_the_cause(session: PoolSession) -> None:
    for _ in range(2):
        session.credit(Consumed("a", 2 * SECOND))
        assert session.lose_worker({"a", "b"})
        session.resume()


async def test_who_was_not_looked_at_is_no_suspect(session: PoolSession) -> None:
    for _ in range(2):
        assert session.lose_worker({"b"})
        session.resume()


async def test_after_too_many_losses_without_progress_a_session_gives_up(session: PoolSession) -> None:
    outcomes = []
    for _ in range(MOST_LOSSES):
        outcomes.append(session.lose_worker(()))
        session.resume()
    assert outcomes == [True] * (MOST_LOSSES - 1) + [False]


async def test_a_recording_is_accused_by_what_it_has_settled(session: PoolSession) -> None:
    await session.send_recording(Path("upload.wav"), 3600.0)
    session.settle(Settled("a", 54.0, 3, 0, 0, ()))
    assert session.lose_worker({"a"})
    session.resume()
    session.settle(Settled("a", 88.0, 5, 0, 0, ()))
    assert session.lose_worker({"a"})
    session.resume()
    assert not session.lose_worker({"a"})


def ready(model: str) -> Ready:
    return Ready(1, model, "zipformer2-ctc", ("en",), "cpu", 1, 16_000, 320.0, 500.0, True, 0.1)


@pytest.mark.parametrize(("model", "said_again"), [("a", 5), ("b", 4)])
async def test_what_one_model_has_heard_does_not_lead_another_one_in(
    session: PoolSession, model: str, said_again: int
) -> None:
    mark = GateMark(position_s=6.0, step_offset=0, is_open=True, background_dbfs=-60.0, silent_samples=0)
    before, now = Worker(), Worker()
    before.ready, now.ready = ready("a"), ready(model)
    session.worker = cast("Supervisor", before)
    session.settle(Settled("a", 6.0, 1, 0, 0, (), LeadIn(start_s=5.0, end_s=6.0, mark=mark)))
    session.move_to(cast("Supervisor", now))
    assert sum(len(message.data) for message in now.sent if isinstance(message, SessionAudio)) == said_again * SECOND


def audio_sent(worker: Worker) -> list[int]:
    return [len(message.data) for message in worker.sent if isinstance(message, SessionAudio)]


@pytest.fixture
def worker(session: PoolSession) -> Worker:
    """The session's, which has been told of all before."""
    worker = cast("Worker", session.worker)
    worker.sent.clear()
    return worker


@pytest.mark.parametrize("ask", [PoolSession.flush, PoolSession.finish])
async def test_what_is_gathered_goes_before_what_is_asked_for(
    session: PoolSession, worker: Worker, ask: Callable[[PoolSession], Awaitable[None]]
) -> None:
    await session.send(bytes(SECOND // 50))
    assert worker.sent == []
    await ask(session)
    assert audio_sent(worker) == [SECOND // 50]
    assert isinstance(worker.sent[0], SessionAudio)


async def test_who_waits_until_all_is_decoded_does_not_wait_for_what_is_gathered(
    session: PoolSession, worker: Worker
) -> None:
    session.credit(Consumed("a", 10 * SECOND, is_resting=True))
    await session.send(bytes(SECOND // 50))
    await session.caught_up()
    assert audio_sent(worker) == [SECOND // 50]


async def test_a_session_that_rests_gets_its_audio_in_larger_pieces(session: PoolSession, worker: Worker) -> None:
    session.credit(Consumed("a", 10 * SECOND, is_resting=True))
    for _ in range(9):
        await session.send(bytes(SECOND // 50))
    assert (session.is_resting, audio_sent(worker)) == (True, [9 * SECOND // 50])


async def test_a_session_that_wakes_gets_what_was_gathered_at_once(session: PoolSession, worker: Worker) -> None:
    session.credit(Consumed("a", 10 * SECOND, is_resting=True))
    await session.send(bytes(SECOND // 10))
    session.credit(Consumed("a", 10 * SECOND))
    assert audio_sent(worker) == [SECOND // 10]


async def test_another_worker_gets_what_was_gathered_once(session: PoolSession, worker: Worker) -> None:
    session.settle(Settled("a", 10.0, 1, 0, 0, ()))
    await session.send(bytes(SECOND // 50))
    session.lose_worker(())
    session.resume()
    await session.flush()
    assert sum(audio_sent(worker)) == SECOND // 50


async def test_who_sends_faster_than_one_speaks_is_not_made_to_wait(session: PoolSession, worker: Worker) -> None:
    session.credit(Consumed("a", 10 * SECOND, is_resting=True))
    await session.send(bytes(2 * SECOND))
    assert session.is_resting
    await session.send(bytes(SECOND // 10))
    assert not session.is_resting
    assert audio_sent(worker) == [2 * SECOND]


async def test_who_waits_for_credit_has_passed_everything_on(session: PoolSession, worker: Worker) -> None:
    """A step may be longer than the backlog that a session is allowed."""
    worker.ready = msgspec.structs.replace(ready("a"), chunk_ms=200_000.0)
    session.credit(Consumed("a", 10 * SECOND, quiet_until_bytes=200 * SECOND))
    await session.send(bytes(30 * SECOND))
    await session.send(bytes(SECOND))
    assert audio_sent(worker) == []
    sending = asyncio.create_task(session.send(bytes(SECOND)))
    await asyncio.sleep(0)
    assert audio_sent(worker) == [31 * SECOND]
    session.credit(Consumed("a", 50 * SECOND))
    await sending
