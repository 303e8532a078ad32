"""Several workers of one model: real worker processes, each on cores of its own."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest

from edge_asr.requests import SessionOptions
from edge_asr.resources.affinity import thread_masks
from edge_asr.resources.topology import read_topology
from edge_asr.settings import WorkerSettings
from tests.support.waiting import until
from tests.workers import scripted
from tests.workers.conftest import FAST
from tests.workers.listening import said
from tests.workers.scripted import WORD, audio

PCM = SessionOptions(partials=False)
TWO = WorkerSettings(restart_delay_s=0.0, max_restart_delay_s=600.0, count=2, swap_drain_s=0.0)

pytestmark = pytest.mark.skipif(
    len({core.siblings for core in read_topology().cores}) < 2, reason="each worker needs a core of its own"
)


@pytest.fixture
async def pool(make_pool):
    made = make_pool(worker=TWO)
    await made.start()
    return made


def workers(pool):
    return sorted((worker.role, worker.sessions) for worker in pool.status().workers)


async def test_each_worker_stays_on_its_own_cores(pool):
    first, second = pool.status().workers
    assert not set(first.cpus) & set(second.cpus)
    for worker in (first, second):
        assert all(mask <= set(worker.cpus) for mask in thread_masks(worker.pid).values())
        assert worker.escaped_threads == 0


async def test_sessions_are_spread(pool):
    sessions = [await pool.open(PCM, protocol="test") for _ in range(4)]
    assert workers(pool) == [("active", 2), ("twin", 2)]
    for session in sessions:
        await session.send(audio(WORD))
        await session.finish()
        assert await said(session) == ["word"]


async def test_one_worker_that_dies_takes_only_its_own_sessions_along(pool):
    sessions = [await pool.open(PCM, protocol="test") for _ in range(2)]
    for session in sessions:
        await session.send(audio(WORD))
    os.kill(pool.status().workers[0].pid, signal.SIGKILL)
    await until(lambda: pool.status().restarts == 1 and pool.status().state == "ready")
    for session in sessions:
        await session.finish()
    outcomes = [await said(session) for session in sessions]
    assert sorted(outcomes) == [["engine_restarted", "word"], ["word"]]


async def test_a_new_session_does_not_wait_for_a_worker_that_is_being_replaced(make_pool):
    pool = make_pool(worker=replace(TWO, restart_delay_s=600.0))
    await pool.start()
    os.kill(pool.status().workers[0].pid, signal.SIGKILL)
    await until(lambda: pool.status().workers[0].state == "restarting")
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    await session.finish()
    assert await said(session) == ["word"]


async def test_another_active_model_gets_as_many_workers(pool, tmp_path):
    before = await pool.open(PCM, protocol="test")
    blue = tmp_path / "blue"
    blue.mkdir()
    (blue / "word").write_text("blue")

    async def passes(_place) -> None:
        """A trial without a question."""

    await pool.activate(scripted.model(blue, replace(FAST, worker=TWO), "blue"), passes)
    after = [await pool.open(PCM, protocol="test") for _ in range(2)]
    await until(lambda: workers(pool) == [("active", 2), ("twin", 1)] or workers(pool) == [("active", 1), ("twin", 2)])
    for session in (before, *after):
        await session.send(audio(WORD))
        await session.finish()
    assert [await said(session) for session in after] == [["blue"], ["blue"]]
    assert (await said(before))[-1] == "blue"
    first, second = pool.status().workers
    assert not set(first.cpus) & set(second.cpus)


async def test_a_recycled_twin_leaves_its_cores_to_the_fresh_one(make_pool):
    pool = make_pool(worker=replace(TWO, recycle_after_sessions=1))
    await pool.start()
    cores = {worker.cpus for worker in pool.status().workers}
    before = {worker.pid for worker in pool.status().workers}
    await pool.check()
    session = await pool.open(PCM, protocol="test")
    await session.finish()
    assert await said(session) == []
    await pool.check()
    await until(lambda: len(before & {worker.pid for worker in pool.status().workers}) == 1)
    await until(lambda: len(pool.status().workers) == 2)
    assert {worker.cpus for worker in pool.status().workers} == cores
    assert sorted(worker.role for worker in pool.status().workers) == ["active", "twin"]
