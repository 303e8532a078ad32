"""Sessions find room, a lighter model or a refusal: real worker processes, a scripted engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edge_asr.errors import Overloaded
from edge_asr.events import Final, Notice, SessionEnded
from edge_asr.requests import SessionOptions
from edge_asr.settings import AdmissionSettings, LimitSettings
from edge_asr.workers.heat_sensor import HeatSensor
from tests.boards import raspberry_pi_4, write_tree
from tests.boards.tree import zone
from tests.support.waiting import until
from tests.workers.scripted import WORD, audio
from tests.workers.test_changes import Shelf

PCM = SessionOptions(partials=False)
TWO_STREAMS = AdmissionSettings(streams=2)
"""What a board profile would say: the scripted engine is not measured within a test."""


async def started(make_pool, tmp_path, admission=TWO_STREAMS):
    made = make_pool(models=Shelf(tmp_path), admission=admission, limits=LimitSettings(max_sessions=10))
    await made.start()
    return made


async def said(session):
    events = [event async for event in session.events()]
    assert isinstance(events[-1], SessionEnded), events[-1]
    return events[:-1]


async def say(session):
    await session.send(audio(WORD))
    await session.finish()
    return await said(session)


async def test_one_stream_more_than_the_board_carries_is_refused(make_pool, tmp_path, registry):
    pool = await started(make_pool, tmp_path)
    sessions = [await pool.open(PCM, protocol="test") for _ in range(2)]
    with pytest.raises(Overloaded, match=r"keeps up with 2\.0 streams that talk, and the 2 that are open need 2\.0"):
        await pool.open(PCM, protocol="test")
    refused = registry.get_sample_value(
        "edge_asr_sessions_refused_total", {"protocol": "test", "code": Overloaded.code}
    )
    assert refused == 1.0
    assert [len(await say(session)) for session in sessions] == [1, 1]


async def test_there_is_room_again_once_a_session_has_ended(make_pool, tmp_path):
    pool = await started(make_pool, tmp_path)
    first, _ = [await pool.open(PCM, protocol="test") for _ in range(2)]
    await say(first)
    assert await pool.open(PCM, protocol="test")


async def test_a_recording_is_taken_beside_a_full_house(make_pool, tmp_path):
    pool = await started(make_pool, tmp_path)
    for _ in range(2):
        await pool.open(PCM, protocol="test")
    recording = await pool.open(SessionOptions(partials=False, is_batch=True), protocol="test")
    (final,) = await say(recording)
    assert final.text == "word"


async def test_under_load_new_sessions_get_the_lighter_model_and_are_told_so(make_pool, tmp_path, registry):
    pool = await started(make_pool, tmp_path, AdmissionSettings(streams=4, lighter_model="blue"))
    sessions = [await pool.open(PCM, protocol="test") for _ in range(3)]
    fourth = await pool.open(PCM, protocol="test")
    assert registry.get_sample_value("edge_asr_lighter_model_in_use") == 1.0
    notice, final = await say(fourth)
    assert isinstance(notice, Notice)
    assert (notice.code, notice.message) == (
        "lighter_model",
        "scripted has no room at the moment; blue serves this session",
    )
    assert isinstance(final, Final)
    assert final.text == "blue"
    for session in sessions:
        await say(session)
    fifth = await pool.open(PCM, protocol="test")
    assert [event.text for event in await say(fifth)] == ["word"]
    assert registry.get_sample_value("edge_asr_lighter_model_in_use") == 0.0


async def test_both_models_share_the_cores(make_pool, tmp_path):
    pool = await started(make_pool, tmp_path, AdmissionSettings(streams=2, lighter_model="blue", lighter_above=1.0))
    for _ in range(2):
        await pool.open(PCM, protocol="test")
    with pytest.raises(Overloaded, match=r"keeps up with 0\.0 streams"):
        await pool.open(PCM, protocol="test")


async def test_a_model_asked_for_by_name_is_never_replaced_by_the_lighter_one(make_pool, tmp_path):
    pool = await started(make_pool, tmp_path, replace(TWO_STREAMS, lighter_model="blue"))
    for _ in range(2):
        await pool.open(PCM, protocol="test")
    with pytest.raises(Overloaded):
        await pool.open(SessionOptions(partials=False, model="scripted"), protocol="test")


async def test_a_lighter_model_that_is_not_there_leaves_the_refusal(make_pool, tmp_path, caplog):
    pool = await started(make_pool, tmp_path, replace(TWO_STREAMS, lighter_model="purple"))
    for _ in range(2):
        await pool.open(PCM, protocol="test")  # the second one comes above the mark already
    with pytest.raises(Overloaded, match="keeps up with"):
        await pool.open(PCM, protocol="test")
    assert "the lighter model cannot be had: model 'purple' is not installed" in caplog.text


async def test_the_status_tells_what_a_worker_can_do_and_does(make_pool, tmp_path):
    pool = await started(make_pool, tmp_path)
    await pool.open(PCM, protocol="test")
    await until(lambda: pool.status().workers[0].memory_bytes > 0)
    (worker,) = pool.status().workers
    assert (worker.capacity_streams, worker.needed_streams) == (2.0, 1.0)
    assert worker.memory_limit_bytes > worker.memory_bytes


async def test_a_hot_machine_opens_fewer_sessions_and_says_why(make_pool, tmp_path, registry, monkeypatch, caplog):
    board = raspberry_pi_4(tmp_path / "board")
    monkeypatch.setattr(
        "edge_asr.workers.capacity.HeatSensor", lambda cpus, limit_c, _root: HeatSensor(cpus, limit_c, board)
    )
    pool = await started(make_pool, tmp_path)
    await pool.open(PCM, protocol="test")
    write_tree(board, zone(0, "cpu-thermal", 81_000))
    await pool.check()
    with pytest.raises(Overloaded, match=r"keeps up with 1\.0 streams that talk \(it is at 81 °C of 80 °C\)"):
        await pool.open(PCM, protocol="test")
    assert registry.get_sample_value("edge_asr_temperature_celsius") == 81.0
    assert registry.get_sample_value("edge_asr_heat_capacity_ratio") == 0.5
    assert "fewer sessions are opened: it is at 81 °C of 80 °C" in caplog.text
    write_tree(board, zone(0, "cpu-thermal", 55_000))
    await pool.check()
    assert await pool.open(PCM, protocol="test")
