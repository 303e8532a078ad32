"""A worker that takes too much memory is replaced, and its sessions go on: real worker processes, a scripted engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edge_asr.errors import Overloaded
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import SessionOptions
from edge_asr.workers.pool import Pool
from tests.support.waiting import until
from tests.workers import scripted
from tests.workers.conftest import FAST
from tests.workers.listening import said
from tests.workers.scripted import HOARD, HOARD_BYTES, WORD, audio

PCM = SessionOptions(partials=False)
MIB = 1 << 20


async def limited(make_pool, directory, beyond_mib):
    """A pool whose worker may take so much more than when it is ready."""
    measured = Pool(
        scripted.model(directory), Instruments(new_registry()), loader=f"{scripted.MODULE}:{scripted.load.__name__}"
    )
    await measured.start()
    ready_bytes = measured.status().workers[0].memory_bytes
    await measured.close(0)
    made = make_pool(worker=replace(FAST.worker, memory_limit_mib=ready_bytes // MIB + beyond_mib))
    await made.start()
    return made


async def hoard(pool):
    """A session that has made its worker take memory, and goes on."""
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD, HOARD))
    await session.flush()
    return session


async def test_at_the_soft_limit_a_fresh_worker_takes_over_unnoticed(make_pool, tmp_path, registry):
    pool = await limited(make_pool, tmp_path, beyond_mib=round(1.2 * HOARD_BYTES / MIB))
    before = pool.status().worker_pid
    session = await hoard(pool)
    await until(lambda: pool.status().worker_pid != before)
    await session.send(audio(WORD))
    await session.finish()
    assert await said(session) == ["word", "word"]
    assert pool.status().restarts == 0
    recycled = {"worker": "0", "reason": "memory"}
    assert registry.get_sample_value("edge_asr_worker_restarts_total", recycled) == 1.0


async def test_at_the_hard_limit_nothing_is_opened_until_it_is_replaced(make_pool, tmp_path, monkeypatch):
    pool = await limited(make_pool, tmp_path, beyond_mib=round(0.5 * HOARD_BYTES / MIB))
    monkeypatch.setattr(pool._changes, "recycle_the_worn", lambda: None)
    session = await hoard(pool)
    await until(lambda: pool.status().workers[0].memory_bytes > pool.status().workers[0].memory_limit_bytes)
    with pytest.raises(Overloaded, match="at its memory limit and is being replaced"):
        await pool.open(PCM, protocol="test")
    monkeypatch.undo()
    await pool.check()
    await until(lambda: pool.status().workers[0].memory_bytes < pool.status().workers[0].memory_limit_bytes)
    await session.finish()
    assert await said(session) == ["word"]


async def test_at_the_hard_limit_without_sessions_the_pause_between_two_replacements_is_not_kept(make_pool, tmp_path):
    pool = await limited(make_pool, tmp_path, beyond_mib=round(0.5 * HOARD_BYTES / MIB))
    used = {pool.status().worker_pid}
    for workers in (1, 2):
        session = await hoard(pool)
        await session.finish()
        assert await said(session) == ["word"]
        await pool.check()
        await until(lambda: pool.status().worker_pid not in used)
        assert len(used) == workers
        used.add(pool.status().worker_pid)
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    await session.finish()
    assert await said(session) == ["word"]


async def test_without_room_for_two_the_worker_at_its_limit_goes_first_and_its_session_is_said_again(
    make_pool, tmp_path, monkeypatch
):
    pool = await limited(make_pool, tmp_path, beyond_mib=round(0.5 * HOARD_BYTES / MIB))
    monkeypatch.setattr(pool._changes, "_free_bytes", lambda: 0)
    before = pool.status().worker_pid
    session = await hoard(pool)
    await until(lambda: pool.status().worker_pid not in (0, before) and pool.status().state == "ready")
    assert pool.status().restarts == 1
    await session.send(audio(WORD))
    await session.finish()
    assert sorted(await said(session)) == ["engine_restarted", "word", "word"]


async def test_a_limit_below_what_the_model_takes_is_said_and_not_enforced(make_pool, caplog):
    pool = make_pool(worker=replace(FAST.worker, memory_limit_mib=1))
    await pool.start()
    assert "MiB before its first session, and worker.memory_limit_mib allows 1; raise it" in caplog.text
    assert pool.status().workers[0].memory_limit_bytes == 0


async def test_the_front_gives_its_heap_back_once_nobody_talks(make_pool, monkeypatch):
    trims: list[bool] = []
    monkeypatch.setattr("edge_asr.workers.pool.trim_heap", lambda: trims.append(True))
    pool = make_pool()
    await pool.start()
    session = await pool.open(PCM, protocol="test")
    await pool.check()
    assert trims == []
    await session.finish()
    await said(session)
    for _ in range(2):
        await pool.check()
    assert trims == [True]
