"""An NPU that fails: its worker is replaced once, then it is given up; the sessions go on."""

from __future__ import annotations

import pytest

from edge_asr.engines.device_guard import GuardedEngine
from edge_asr.engines.scripted import ScriptedEngine
from edge_asr.errors import EngineFailed, NotReady, ProviderFailed
from edge_asr.events import Final, SessionEnded
from edge_asr.requests import SessionOptions
from edge_asr.settings import EngineSettings
from edge_asr.workers.device_health import SOON_S, DeviceHealth, runs_on_device
from edge_asr.workers.device_words import MOST_FAULTS
from tests.support.waiting import until
from tests.workers.scripted import NPU_DECODES, WORD, audio

PCM = SessionOptions(partials=False)
MURMUR = 0.1
SPOKEN = (WORD, *[MURMUR] * (3 * NPU_DECODES), WORD)
"""More than the NPU decodes in two lives."""


async def say(pool, *amplitudes):
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(*amplitudes))
    await session.finish()
    return [event async for event in session.events()]


async def test_no_session_is_lost_when_the_npu_is_given_up_for_the_cpu(make_pool):
    pool = make_pool("load_on_npu", engine=EngineSettings(provider="rknn", fallback="cpu"))
    await pool.start()
    assert pool.status().ready.provider == "rknn"
    *finals, ended = await say(pool, *SPOKEN)
    assert " ".join(final.text for final in finals if isinstance(final, Final)) == "word word"
    assert isinstance(ended, SessionEnded)
    assert pool.status().ready.provider == "cpu (asked: rknn)"
    assert pool.status().restarts == 2, "replaced once, then given up"


async def test_an_npu_that_only_complains_and_hears_nothing_is_given_up_too(make_pool):
    pool = make_pool("load_on_npu_that_goes_silent", engine=EngineSettings(provider="rknn", fallback="cpu"))
    await pool.start()
    session = await pool.open(PCM, protocol="test")
    murmur = audio(*[MURMUR] * (NPU_DECODES + MOST_FAULTS))
    await session.send(murmur)
    await until(lambda: pool.status().restarts == 1)
    await session.send(murmur)
    await until(lambda: pool.status().ready.provider == "cpu (asked: rknn)")
    await session.send(audio(WORD))
    await session.finish()
    *finals, ended = [event async for event in session.events()]
    assert [final.text for final in finals if isinstance(final, Final)] == ["word"]
    assert isinstance(ended, SessionEnded)


async def test_without_a_fallback_nothing_is_served_and_the_reason_is_said(make_pool):
    pool = make_pool("load_on_npu", engine=EngineSettings(provider="rknn"))
    await pool.start()
    *_, failed = await say(pool, *SPOKEN)
    assert failed.is_retryable
    await until(lambda: pool.status().state == "failed")
    with pytest.raises(NotReady, match=r"two workers on it ended within 10 minutes.*failed to submit the job"):
        await pool.open(PCM, protocol="test")


def test_two_deaths_far_apart_are_bad_luck():
    health = DeviceHealth()
    health.note_death("rknn", "job time-out", 0.0)
    health.note_death("rknn", "job time-out", SOON_S + 1)
    assert not health.verdict
    health.note_death("rknn", "job time-out", SOON_S + 2)
    assert "the last one: job time-out" in health.verdict


@pytest.mark.parametrize("provider", ["cpu", "cpu (asked: rknn)", "ort:CPU"])
def test_deaths_on_the_cpu_are_not_a_devices(provider):
    health = DeviceHealth()
    health.note_death(provider, "killed", 0.0)
    health.note_death(provider, "killed", 1.0)
    assert not health.verdict
    assert not runs_on_device(provider)


def test_a_failure_of_the_device_is_no_failure_of_a_session():
    class Failing(ScriptedEngine):
        def decode(self, streams):
            raise EngineFailed("failed to submit")

    with pytest.raises(ProviderFailed, match="provider 'rknn' failed while decoding: failed to submit"):
        GuardedEngine(Failing(), "rknn").decode([])
