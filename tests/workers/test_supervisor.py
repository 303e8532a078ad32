"""Loading, dying and stopping of one worker, without sessions."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from edge_asr.errors import ConfigurationError, EdgeAsrError, MachineError, ModelDamaged, ModelUnsupported
from edge_asr.requests import SessionOptions
from edge_asr.resources.affinity import escaped_threads, thread_masks
from edge_asr.settings import WorkerSettings
from edge_asr.workers.supervisor import MOST_INTERRUPTED_LOADS
from tests.support.processes import children, is_running, oom_score, threads
from tests.support.waiting import until


async def failure_of(pool) -> EdgeAsrError:
    before = children()
    with pytest.raises(EdgeAsrError) as caught:
        await pool.start()
    assert children() == before
    assert pool.status().restarts == 0
    return caught.value


async def test_a_model_that_cannot_be_loaded_is_the_error_the_worker_raised(make_pool):
    error = await failure_of(make_pool("fail_to_load"))
    assert isinstance(error, ModelDamaged)
    assert str(error) == "model 'scripted': it is no model"


async def test_an_engine_that_ends_its_process_while_loading_is_quoted(make_pool):
    error = await failure_of(make_pool("end_while_loading"))
    assert isinstance(error, ModelUnsupported)
    assert str(error).endswith("exit status 255: model.cc:InitEncoder:117 'T' does not exist in the metadata")


async def test_a_fault_of_the_program_while_loading_is_not_the_models(make_pool):
    error = await failure_of(make_pool("raise_while_loading"))
    assert error.code == "internal"
    assert "ZeroDivisionError('a fault of the program')" in str(error)


async def test_a_loader_that_is_not_there_is_a_fault_of_the_program(make_pool):
    error = await failure_of(make_pool("no_such_loader"))
    assert "no_such_loader" in str(error)


async def test_a_model_that_takes_too_long_names_the_setting(make_pool):
    error = await failure_of(make_pool("load_for_ever", worker=WorkerSettings(load_timeout_s=1)))
    assert isinstance(error, MachineError)
    assert "was not loaded within 1 s; raise worker.load_timeout_s" in str(error)


async def test_a_worker_killed_while_loading_is_the_machines_fault(make_pool, tmp_path):
    pool = make_pool("load_for_ever")
    failing = asyncio.create_task(failure_of(pool))
    await until((tmp_path / "loading").exists)
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    error = await failing
    assert type(error).code == "load_interrupted"
    assert "killed by signal 9" in str(error)


async def test_cores_that_are_not_there_are_named(make_pool):
    error = await failure_of(make_pool(worker=WorkerSettings(cpus=(1023,))))
    assert isinstance(error, ConfigurationError)
    assert "cannot use [1023] here" in str(error)


async def test_a_start_that_is_cancelled_leaves_no_process(make_pool, tmp_path):
    before = children()
    starting = asyncio.create_task(make_pool("load_for_ever").start())
    await until((tmp_path / "loading").exists)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert children() == before


async def test_every_thread_of_a_worker_stays_on_its_cores(make_pool):
    cpu = max(os.sched_getaffinity(0))
    pool = make_pool(worker=WorkerSettings(cpus=(cpu,)))
    await pool.start()
    pid = pool.status().worker_pid
    assert len(thread_masks(pid)) >= 2
    assert escaped_threads(pid, {cpu}) == {}


async def test_a_worker_starts_no_pool_of_linear_algebra_threads(pool):
    assert len(threads(pool.status().worker_pid)) == 2  # one reads the socket, one decodes


async def test_signals_for_the_whole_service_do_not_end_a_worker(pool):
    pid = pool.status().worker_pid
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pid, number)
    session = await pool.open(SessionOptions(), protocol="test")
    await session.finish()
    assert [type(event).__name__ async for event in session.events()] == ["SessionEnded"]
    assert pool.status().worker_pid == pid


async def test_the_kernel_takes_the_worker_first_when_memory_runs_out(pool):
    assert oom_score(pool.status().worker_pid) == 500


async def test_a_worker_that_reads_rubbish_ends_and_is_replaced(pool):
    first = pool.status().worker_pid
    pool._roster.active.worker._process._link.write(b"\xff" * 64)
    await until(lambda: pool.status().restarts == 1)
    await until(lambda: pool.status().state == "ready")
    assert pool.status().worker_pid != first


async def test_a_worker_that_is_stopped_is_closed_in_order(make_pool, tmp_path):
    pool = make_pool()
    await pool.start()
    pid = pool.status().worker_pid
    await pool.close(0)
    assert (tmp_path / "engine-closed").exists()
    assert not is_running(pid)


async def test_stopping_while_a_worker_is_replaced_leaves_no_process(make_pool, tmp_path):
    before = children()
    pool = make_pool()
    await pool.start()
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    await until(lambda: pool.status().restarts == 1)
    await pool.close(0)
    assert children() == before


async def test_restarts_are_counted_by_reason(make_pool, registry):
    pool = make_pool("load_once")
    await pool.start()
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    await until(lambda: pool.status().state == "failed")

    def count(reason):
        return registry.get_sample_value("edge_asr_worker_restarts_total", {"worker": "0", "reason": reason})

    assert (count("died"), count("load_failed")) == (1, MOST_INTERRUPTED_LOADS)
    assert registry.get_sample_value("edge_asr_worker_up", {"worker": "0"}) == 0
