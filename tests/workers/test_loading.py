"""The standard loader in a real worker: the bundled model, and what is wrong with others."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
import soundfile

from edge_asr.errors import EdgeAsrError, ModelDamaged, ModelError, NotEnoughMemory, UnknownProvider
from edge_asr.events import Final
from edge_asr.manifest import read_manifest
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import SessionOptions
from edge_asr.resources.affinity import escaped_threads, thread_masks
from edge_asr.settings import EngineSettings, WorkerSettings
from edge_asr.workers.loading import require_memory, with_parallel_streams
from edge_asr.workers.pool import Pool
from edge_asr.workers.served_model import ServedModel
from tests.support.processes import children
from tests.workers.conftest import FAST

CHECKOUT = Path(__file__).resolve().parent.parent.parent
STARTER = CHECKOUT / "models" / "starter-en"
CLIPS = CHECKOUT / "edge_asr" / "clips"
PCM = SessionOptions(partials=False)


@pytest.fixture
async def serve(registry):
    """Start a pool on a model's directory; ended after the test."""
    pools: list[Pool] = []

    async def start(directory: Path = STARTER, **groups) -> Pool:
        model = ServedModel(read_manifest(STARTER / "manifest.toml"), directory, replace(FAST, **groups))
        pools.append(Pool(model, Instruments(registry)))
        await pools[-1].start()
        return pools[-1]

    yield start
    for pool in pools:
        await pool.close(0)


@pytest.fixture
def copy_of_starter(tmp_path):
    return Path(shutil.copytree(STARTER, tmp_path / "starter-en"))


def speech(name: str = "go-forward") -> bytes:
    samples, rate_hz = soundfile.read(CLIPS / f"{name}.flac", dtype="int16")
    assert rate_hz == 16_000
    return np.asarray(samples).tobytes()


async def transcript(pool, data, options=PCM) -> str:
    session = await pool.open(options, protocol="test")
    for start in range(0, len(data), 3200):
        await session.send(data[start : start + 3200])
    await session.finish()
    return " ".join([event.text async for event in session.events() if isinstance(event, Final)])


@pytest.mark.model
async def test_the_bundled_model_hears_the_bundled_clip(serve):
    pool = await serve()
    ready = pool.status().ready
    assert (ready.model, ready.provider, ready.is_streaming) == ("starter-en", "cpu", True)
    assert ready.languages == ("en",)
    assert await transcript(pool, speech()) == "go forward ten meters"


@pytest.mark.model
async def test_a_session_whose_worker_is_killed_is_heard_to_its_end(serve):
    pool = await serve()
    session = await pool.open(PCM, protocol="test")
    await session.send(speech()[:32_000])
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    await session.send(speech()[32_000:])
    await session.finish()
    finals = [event.text async for event in session.events() if isinstance(event, Final)]
    assert finals == ["go forward ten meters"]


@pytest.mark.model
async def test_every_thread_of_the_engine_stays_on_the_workers_cores(serve):
    cpu = min(os.sched_getaffinity(0))
    pool = await serve(engine=EngineSettings(threads=2), worker=WorkerSettings(cpus=(cpu,)))
    await transcript(pool, speech())
    pid = pool.status().worker_pid
    assert len(thread_masks(pid)) >= 3  # one reads, one decodes, one is the engine's second
    assert escaped_threads(pid, {cpu}) == {}
    assert pool.status().ready.notes == ()


@pytest.mark.model
async def test_a_spooled_recording_is_heard_like_a_stream(serve):
    pool = await serve()
    session = await pool.open(PCM, protocol="test")
    await session.send_recording(CLIPS / "go-forward.flac", 60.0)
    assert [event.text async for event in session.events() if isinstance(event, Final)] == ["go forward ten meters"]


async def failure(serve, directory, **groups) -> EdgeAsrError:
    before = children()
    with pytest.raises(EdgeAsrError) as caught:
        await serve(directory, **groups)
    assert children() == before
    return caught.value


@pytest.mark.parametrize("name", ["model.int8.onnx", "tokens.txt"])
async def test_a_truncated_file_is_refused_before_the_engine_sees_it(serve, copy_of_starter, name):
    whole = (copy_of_starter / name).read_bytes()
    (copy_of_starter / name).write_bytes(whole[: len(whole) // 2])
    error = await failure(serve, copy_of_starter)
    assert isinstance(error, ModelError)
    assert name in str(error)
    assert "exit status" not in str(error)


async def test_a_directory_without_a_manifest_is_no_model(serve, tmp_path):
    error = await failure(serve, tmp_path)
    assert isinstance(error, ModelDamaged)
    assert "manifest" in str(error)


async def test_a_provider_nobody_knows_is_the_users_mistake(serve):
    error = await failure(serve, STARTER, engine=EngineSettings(provider="bogus"))
    assert isinstance(error, UnknownProvider)
    assert "'bogus'" in str(error)


def test_a_model_that_does_not_fit_is_refused_with_both_figures():
    manifest = read_manifest(STARTER / "manifest.toml")
    with pytest.raises(NotEnoughMemory, match="needs about 102 MiB and 101 MiB are free"):
        require_memory(STARTER, manifest, 101 << 20)
    require_memory(STARTER, manifest, 103 << 20)


@pytest.mark.parametrize(
    ("asked", "threads", "cores", "parallel"), [("auto", 1, 3, 3), ("auto", 2, 3, 1), ("auto", 4, 2, 1), (5, 1, 2, 5)]
)
def test_streams_are_decoded_side_by_side_as_far_as_the_cores_go(asked, threads, cores, parallel):
    settings = EngineSettings(threads=threads, parallel_streams=asked)
    assert with_parallel_streams(settings, cores).parallel_streams == parallel


@pytest.mark.model
async def test_hotwords_of_one_session_change_its_text_and_no_others(registry):
    directory = CHECKOUT / "models" / "starter-en-transducer"
    engine = EngineSettings(decoding_method="modified_beam_search")
    pool = Pool(
        ServedModel(read_manifest(directory / "manifest.toml"), directory, replace(FAST, engine=engine)),
        Instruments(registry),
    )
    await pool.start()
    try:
        ready = pool.status().ready
        assert ready is not None
        assert ready.why_no_hotwords == ""
        data = speech("set-an-alarm-for-joe")
        expecting = msgspec.structs.replace(PCM, hotwords=("an alarm", "日本", "hall :abc"))
        assert await transcript(pool, data, expecting) == "set an alarm for quarter past one"
        assert await transcript(pool, data) == "set amalarm for quarter past one"
    finally:
        await pool.close(0)
