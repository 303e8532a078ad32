from __future__ import annotations

import asyncio
import os
import signal

import numpy as np
import pytest
import soundfile

from edge_asr.errors import ModelNotFound, NotReady, Overloaded
from edge_asr.events import Final, Notice, SessionEnded
from edge_asr.requests import SessionOptions
from edge_asr.settings import LimitSettings, SchedulerSettings, WorkerSettings
from edge_asr.workers.session import PIECE_BYTES
from edge_asr.workers.supervisor import MOST_INTERRUPTED_LOADS
from tests.support.processes import descriptors, is_running
from tests.support.waiting import until
from tests.workers import scripted
from tests.workers.scripted import BLUR, DIE, RAISE, STEP_SAMPLES, WORD, audio

PCM = SessionOptions(partials=False)
LIVE = SessionOptions(partials=False, is_live=True)
SECOND = 32_000
"""Bytes."""


async def everything(session):
    return [event async for event in session.events()]


async def say(pool, *amplitudes, options=PCM):
    """All events of a session with this audio."""
    session = await pool.open(options, protocol="test")
    await session.send(audio(*amplitudes))
    await session.finish()
    return await everything(session)


async def test_audio_comes_back_as_a_final_and_one_end(pool):
    final, ended = await say(pool, 0, WORD, WORD, 0)
    assert isinstance(final, Final)
    assert (final.text, final.reason, final.start_s) == ("word word", "end_of_audio", 0.1)
    assert ended == SessionEnded(final.session_id, audio_s=0.4)


async def test_partials_come_when_they_are_wanted(pool):
    events = await say(pool, WORD, WORD, options=SessionOptions())
    assert [event.text for event in events[:-1]] == ["word", "word word", "word word"]


async def test_a_flush_gives_a_final_and_the_session_goes_on(pool):
    session = await pool.open(PCM, protocol="test")
    events = session.events()
    await session.send(audio(WORD))
    await session.flush()
    first = await anext(events)
    await session.send(audio(WORD))
    await session.finish()
    second = await anext(events)
    assert (first.reason, first.segment) == ("flush", 0)
    assert (second.reason, second.segment, second.start_s) == ("end_of_audio", 1, 0.1)


async def test_sessions_do_not_hear_one_another(pool):
    one, two = await pool.open(PCM, protocol="test"), await pool.open(PCM, protocol="test")
    await one.send(audio(WORD))
    await two.send(audio(WORD, 0, WORD))
    await two.finish()
    await one.finish()
    assert (await everything(one))[0].text == "word"
    assert (await everything(two))[0].text == "word word"


async def test_a_decode_that_raises_fails_its_session_and_no_other(pool):
    good = await pool.open(SessionOptions(), protocol="test")
    events = good.events()
    await good.send(audio(WORD))
    assert (await anext(events)).text == "word"  # decoded, so that the two are not decoded in one step
    (failed,) = await say(pool, RAISE)
    await good.send(audio(WORD))
    await good.finish()
    assert (failed.code, failed.is_retryable) == ("engine_failed", False)
    assert [event.text async for event in events if isinstance(event, Final)] == ["word word"]
    assert pool.status().restarts == 0


async def test_a_last_hypothesis_that_cannot_be_read_fails_its_session_and_no_other(pool):
    (failed,) = await say(pool, BLUR)
    assert (failed.code, failed.message) == (
        "engine_failed",
        "the engine failed on this session: the token table lacks a token",
    )
    assert (await say(pool, WORD))[0].text == "word"
    assert pool.status().restarts == 0


@pytest.mark.parametrize("encoding", ["s16le", "s24le", "f32le", "u8", "mulaw"])
async def test_bytes_that_are_no_audio_end_like_any_session(pool, encoding):
    session = await pool.open(SessionOptions(encoding=encoding, sample_rate_hz=44_100, channels=3), protocol="test")
    for size in (1, 7, 4999, 0, 65_537):
        await session.send(os.urandom(size))
    await session.finish()
    assert isinstance((await everything(session))[-1], SessionEnded)
    assert pool.status().restarts == 0


async def test_audio_after_the_end_is_ignored(pool):
    session = await pool.open(PCM, protocol="test")
    await session.finish()
    assert isinstance((await everything(session))[-1], SessionEnded)
    await session.send(audio(WORD))
    await session.flush()
    await session.finish()
    assert pool.status().sessions == 0


# Slots.


async def test_one_session_more_than_allowed_is_refused_with_the_number(pool):
    for _ in range(4):
        await pool.open(PCM, protocol="test")
    with pytest.raises(Overloaded, match="all 4 sessions are in use"):
        await pool.open(PCM, protocol="test")


async def test_a_cancelled_session_frees_its_slot_at_once_and_ends_its_events(pool):
    sessions = [await pool.open(PCM, protocol="test") for _ in range(4)]
    await sessions[0].send(audio(WORD))
    sessions[0].cancel()
    sessions[0].cancel()
    await pool.open(PCM, protocol="test")
    assert await everything(sessions[0]) == []


async def test_cancelling_ends_a_sender_that_waits(pool, tmp_path):
    (tmp_path / "closed").touch()
    session = await pool.open(PCM, protocol="test")
    sender = asyncio.create_task(session.send(audio(WORD, steps=100)))
    await until(lambda: session._history.end_bytes > SECOND)
    session.cancel()
    await sender
    (tmp_path / "closed").unlink()


async def test_a_model_that_is_not_served_is_refused_by_name(pool):
    with pytest.raises(ModelNotFound, match=r"'other'.*this daemon serves one model only"):
        await pool.open(SessionOptions(model="other"), protocol="test")
    session = await pool.open(SessionOptions(model="scripted"), protocol="test")
    session.cancel()


async def test_a_pool_that_has_not_started_is_not_ready(make_pool):
    with pytest.raises(NotReady, match="the model is being loaded"):
        await make_pool().open(PCM, protocol="test")


async def test_fifty_sessions_half_of_them_dropped_mid_audio_leave_nothing_behind(make_pool):
    pool = make_pool(limits=LimitSettings(max_sessions=50))
    await pool.start()
    await say(pool, WORD)
    pid = pool.status().worker_pid
    before = descriptors(os.getpid()), descriptors(pid)
    sessions = [await pool.open(PCM, protocol="test") for _ in range(50)]
    for session in sessions:
        await session.send(audio(WORD, 0, WORD)[:-5])
    for session in sessions[::2]:
        session.cancel()
    for session in sessions[1::2]:
        await session.finish()
        assert (await everything(session))[0].text == "word word"
    assert pool.status().sessions == 0
    await until(lambda: pool.status().stats.sessions == 0)
    assert (descriptors(os.getpid()), descriptors(pid)) == before


# Flow control.


async def test_a_fast_sender_waits_until_the_worker_has_decoded_some(pool, tmp_path):
    (tmp_path / "closed").touch()
    session = await pool.open(PCM, protocol="test")
    sender = asyncio.create_task(session.send(audio(WORD, steps=600)))
    await until(lambda: session._history.end_bytes > SECOND)
    assert session._history.end_bytes <= SECOND + PIECE_BYTES
    assert not sender.done()
    (tmp_path / "closed").unlink()
    await sender
    await session.finish()
    ended = (await everything(session))[-1]
    assert (ended.audio_s, ended.dropped_samples) == (60.0, 0)


async def test_a_flood_does_not_grow_the_worker(make_pool):
    pool = make_pool(scheduler=SchedulerSettings(backlog_s=5.0))
    await pool.start()
    await say(pool, 0)
    before = pool._roster.active.worker.resident_bytes()
    session = await pool.open(PCM, protocol="test")
    for _ in range(30):
        await session.send(audio(0, steps=200))  # ten minutes in all, 38 MB as float samples
    grown = pool._roster.active.worker.resident_bytes() - before
    session.cancel()
    assert grown < 10 << 20


async def test_a_live_session_loses_its_oldest_audio_and_says_so(pool, tmp_path):
    (tmp_path / "closed").touch()
    session = await pool.open(LIVE, protocol="test")
    await session.send(audio(0, steps=20))
    await session.send(audio(WORD))
    await session.finish()
    (tmp_path / "closed").unlink()
    notice, final, ended = await everything(session)
    assert isinstance(notice, Notice)
    assert notice.code == "audio_dropped"
    assert final.text == "word"
    assert final.start_s == pytest.approx(2.0)
    assert ended.dropped_samples >= 9 * STEP_SAMPLES


async def test_a_live_sender_does_not_fill_the_memory_of_a_worker_that_hangs(pool, tmp_path):
    (tmp_path / "closed").touch()
    session = await pool.open(LIVE, protocol="test")
    sender = asyncio.create_task(session.send(audio(0, steps=600)))
    await until(lambda: session._history.end_bytes > 2 * SECOND)
    assert session._history.end_bytes <= 2 * SECOND + PIECE_BYTES
    session.cancel()
    await sender
    (tmp_path / "closed").unlink()


# A worker dies.


def finals(events):
    return [event.text for event in events if isinstance(event, Final)]


async def kill_worker(pool):
    """End the worker, and wait until it is noticed."""
    gone = pool.status().worker_pid
    os.kill(gone, signal.SIGKILL)
    await until(lambda: pool.status().worker_pid != gone)


async def test_sessions_of_a_killed_worker_go_on_in_the_next_one_and_lose_nothing(pool):
    sessions = [await pool.open(PCM, protocol="test") for _ in range(3)]
    for session in sessions:
        await session.send(audio(0, WORD))
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    for session in sessions:
        await session.send(audio(WORD, 0))
        await session.finish()
    for session in sessions:
        notice, final, ended = await everything(session)
        assert (notice.code, notice.message) == ("engine_restarted", "the recogniser was restarted; nothing is lost")
        assert [(word.text, word.start_s) for word in final.words] == [("word", 0.1), ("word", 0.2)]
        assert ended.audio_s == 0.4
    assert pool.status().restarts == 1


async def test_a_final_that_was_delivered_is_not_said_again_and_times_stay_absolute(pool):
    session = await pool.open(PCM, protocol="test")
    events = session.events()
    await session.send(audio(WORD, 0, 0))
    await session.flush()
    first = await anext(events)
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    await session.send(audio(0, WORD))
    await session.finish()
    notice, second, ended = [event async for event in events]
    assert (first.segment, first.text, first.start_s) == (0, "word", 0.0)
    assert (notice.code, second.segment, second.text, second.start_s) == ("engine_restarted", 1, "word", 0.4)
    assert ended.audio_s == 0.5


async def test_a_flush_that_was_not_answered_is_asked_for_again(pool, tmp_path):
    (tmp_path / "closed").touch()
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    await session.flush()
    await session.send(audio(0, WORD))
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    (tmp_path / "closed").unlink()
    await session.finish()
    said = [event for event in await everything(session) if isinstance(event, Final)]
    assert [(final.text, final.reason, final.start_s) for final in said] == [
        ("word", "flush", 0.0),
        ("word", "end_of_audio", 0.2),
    ]


async def test_a_partial_that_was_seen_gets_its_final_after_a_restart(pool):
    session = await pool.open(SessionOptions(), protocol="test")
    events = session.events()
    await session.send(audio(WORD))
    assert (await anext(events)).text == "word"
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    await session.finish()
    assert finals([event async for event in events]) == ["word"]


async def test_audio_that_ends_the_worker_twice_fails_its_session_and_no_other(pool):
    first = pool.status().worker_pid
    good = await pool.open(PCM, protocol="test")
    await good.send(audio(WORD))
    bad = await say(pool, WORD, DIE)
    await good.send(audio(WORD))
    await good.finish()
    assert (bad[-1].code, bad[-1].is_retryable) == ("worker_died", True)
    assert "killed by signal 6 (SIGABRT)" in bad[-1].message
    assert finals(await everything(good)) == ["word word"]
    assert pool.status().restarts == 2
    assert pool.status().worker_pid != first


async def test_a_session_is_not_blamed_for_kills_from_outside(pool):
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    for restarts in (1, 2, 3):
        await until(lambda: pool.status().state == "ready")
        os.kill(pool.status().worker_pid, signal.SIGKILL)
        await until(lambda: pool.status().restarts == restarts)  # noqa: B023  called before the next round
    await session.finish()
    assert finals(await everything(session)) == ["word"]


async def test_a_worker_that_is_stopped_is_replaced_and_its_session_goes_on(make_pool):
    pool = make_pool(worker=WorkerSettings(restart_delay_s=0.0, hang_timeout_s=1.5))
    await pool.start()
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    os.kill(pool.status().worker_pid, signal.SIGSTOP)
    await until(lambda: pool.status().restarts == 1)
    await session.send(audio(WORD))
    await session.finish()
    assert finals(await everything(session)) == ["word word"]


async def test_a_worker_that_lives_and_decodes_nothing_is_replaced(make_pool, tmp_path):
    pool = make_pool(worker=WorkerSettings(restart_delay_s=0.0, stall_timeout_s=2.0))
    await pool.start()
    (tmp_path / "closed").touch()
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    await until(lambda: pool.status().restarts == 1)
    (tmp_path / "closed").unlink()
    await session.finish()
    assert finals(await everything(session)) == ["word"]


async def test_sessions_that_come_while_a_worker_is_replaced_wait_for_it(make_pool):
    pool = make_pool(worker=WorkerSettings(restart_delay_s=0.5))
    await pool.start()
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    await until(lambda: pool.status().state == "restarting")
    assert finals(await say(pool, WORD)) == ["word"]


async def test_sessions_fail_when_no_worker_comes_in_time(make_pool):
    pool = make_pool(worker=WorkerSettings(restart_delay_s=600.0, max_restart_delay_s=600.0, replay_patience_s=0.1))
    await pool.start()
    session = await pool.open(PCM, protocol="test")
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    (failed,) = await everything(session)
    assert (failed.code, failed.is_retryable) == ("worker_died", True)
    assert pool.status().sessions == 0


async def test_a_worker_that_is_killed_while_it_loads_again_costs_no_session(make_pool, tmp_path):
    pool = make_pool("load_again_when_told")
    await pool.start()
    (tmp_path / "held").touch()
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    await until((tmp_path / "loading").exists)
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    (tmp_path / "held").unlink()
    await session.finish()
    assert finals(await everything(session)) == ["word"]


async def test_sessions_fail_when_loading_is_interrupted_again_and_again(make_pool, tmp_path):
    pool = make_pool("load_again_when_told")
    await pool.start()
    (tmp_path / "held").touch()
    session = await pool.open(PCM, protocol="test")
    for _ in range(1 + MOST_INTERRUPTED_LOADS):
        await until(lambda: pool.status().worker_pid)
        await kill_worker(pool)
    (failed,) = await everything(session)
    assert failed.code == "worker_died"
    assert "loading" in failed.message
    assert pool.status().state == "failed"


async def test_a_model_damaged_under_a_running_daemon_does_not_loop(make_pool):
    pool = make_pool("load_once")
    await pool.start()
    assert (await say(pool, DIE))[-1].code == "worker_died"
    await until(lambda: pool.status().state == "failed")
    assert pool.status().restarts == 1 + MOST_INTERRUPTED_LOADS
    assert pool.status().worker_pid == 0
    with pytest.raises(NotReady, match="model 'scripted': somebody overwrote it"):
        await pool.open(PCM, protocol="test")


async def test_a_sender_whose_worker_dies_goes_on_with_the_next_one(pool, tmp_path):
    (tmp_path / "closed").touch()
    session = await pool.open(PCM, protocol="test")
    sender = asyncio.create_task(session.send(audio(WORD, 0, steps=50)))
    await until(lambda: session._history.end_bytes > SECOND)
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    (tmp_path / "closed").unlink()
    await sender
    await session.finish()
    said = await everything(session)
    assert sum(len(final.words) for final in said if isinstance(final, Final)) == 50
    assert said[-1].audio_s == 10.0


# Stopping.


async def test_a_stopping_pool_refuses_sessions_and_lets_the_others_finish(pool, tmp_path):
    session = await pool.open(PCM, protocol="test")
    closing = asyncio.create_task(pool.close(60))
    await until(lambda: pool.status().state == "draining")
    with pytest.raises(NotReady, match="the daemon is stopping"):
        await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    await session.finish()
    assert (await everything(session))[0].text == "word"
    await closing
    assert (tmp_path / "engine-closed").exists()


async def test_a_microphone_that_stays_open_still_gets_its_last_final(pool):
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    await pool.close(1)
    final, ended = await everything(session)
    assert (final.text, final.reason) == ("word", "end_of_audio")
    assert isinstance(ended, SessionEnded)


async def test_a_session_that_cannot_finish_in_time_fails_with_the_reason(pool, tmp_path):
    (tmp_path / "closed").touch()
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    pid = pool.status().worker_pid
    closing = asyncio.create_task(pool.close(0))
    (failed,) = await everything(session)
    (tmp_path / "closed").unlink()
    await closing
    assert (failed.code, failed.is_retryable) == ("not_ready", True)
    assert "the daemon is stopping" in failed.message
    assert not is_running(pid)


# Figures.


async def test_sessions_are_counted_by_protocol_and_outcome(pool, registry):
    await say(pool, WORD)
    await say(pool, RAISE)
    (await pool.open(PCM, protocol="test")).cancel()

    def count(outcome):
        return registry.get_sample_value("edge_asr_sessions_total", {"protocol": "test", "outcome": outcome})

    assert (count("ended"), count("engine_failed"), count("cancelled")) == (1, 1, 1)
    assert registry.get_sample_value("edge_asr_sessions_open", {"protocol": "test"}) == 0


async def test_the_wait_for_each_asked_final_is_measured(pool, registry):
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    await session.flush()
    await anext(session.events())
    await session.finish()
    await until(lambda: pool.status().sessions == 0)
    count = registry.get_sample_value("edge_asr_final_latency_seconds_count", {"protocol": "test"})
    assert count == 2


async def test_a_worker_tells_its_memory_before_it_has_a_session(pool):
    await until(lambda: pool.status().stats)
    assert pool.status().stats.rss_bytes > 1 << 20


async def test_decoded_audio_arrives_in_the_counters(pool, registry):
    await until(lambda: pool.status().stats)
    await say(pool, WORD, WORD)  # over long before the next report is due
    await until(lambda: registry.get_sample_value("edge_asr_audio_seconds_total", {"worker": "0"}) == 0.2)
    assert registry.get_sample_value("edge_asr_segments_total", {"worker": "0"}) == 1
    assert registry.get_sample_value("edge_asr_resident_memory_bytes", {"process": "worker-0"}) > 1 << 20


# Recordings.


@pytest.fixture
def upload(tmp_path):
    """A stereo WAV at 44.1 kHz with one word in the left channel."""
    samples = np.zeros((44_100, 2), np.float32)
    # One step; a low tone without an offset passes the resampler nearly unchanged.
    samples[26_460:30_870, 0] = WORD * np.where(np.arange(4_410) // 147 % 2, -1, 1)
    path = tmp_path / "upload.wav"
    soundfile.write(path, samples, 44_100)
    return path


async def recognise(pool, path, *, options=PCM, max_duration_s=10.0):
    session = await pool.open(options, protocol="test")
    await session.send_recording(path, max_duration_s)
    return await everything(session)


async def test_a_recording_is_read_at_its_own_rate_and_channel(pool, upload):
    final, ended = await recognise(pool, upload, options=SessionOptions(partials=False, channel="left"))
    assert final.text == "word"
    assert final.start_s == pytest.approx(0.6)
    assert ended.audio_s == pytest.approx(1.0, abs=0.001)


async def test_a_recording_that_is_no_audio_fails_without_its_path(pool, upload):
    upload.write_bytes(b"<html>" * 1000)
    (failed,) = await recognise(pool, upload)
    assert failed.code.startswith("audio_")
    assert failed.message.startswith("recording: ")
    assert str(upload) not in failed.message


async def test_a_recording_longer_than_allowed_fails_with_the_limit(pool, upload):
    events = await recognise(pool, upload, max_duration_s=0.7)
    assert events[-1].code == "limit_exceeded"


async def test_a_recording_that_is_gone_fails_its_session_and_no_other(pool, upload):
    upload.unlink()
    (failed,) = await recognise(pool, upload)
    assert failed.code == "audio_not_found"
    assert (await say(pool, WORD))[0].text == "word"


async def test_a_recording_goes_on_where_it_was_when_the_worker_died(pool, tmp_path):
    samples = scripted.samples(0, WORD, *[0] * 16, WORD, 0)
    path = tmp_path / "long.wav"
    soundfile.write(path, samples, 16_000)
    (tmp_path / "closed").touch()
    session = await pool.open(PCM, protocol="test")
    await session.send_recording(path, 10.0)
    os.kill(pool.status().worker_pid, signal.SIGKILL)
    (tmp_path / "closed").unlink()
    said = await everything(session)
    assert [word.start_s for final in said if isinstance(final, Final) for word in final.words] == [0.1, 1.8]
    assert said[-1].audio_s == 2.0
