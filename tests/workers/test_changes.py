"""Models and workers change under running sessions: real worker processes, a scripted engine."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from edge_asr.clock import ManualClock
from edge_asr.errors import GateFailed, ModelDamaged, ModelNotFound, ModelsBusy, NotEnoughMemory
from edge_asr.events import Final, Notice, SessionEnded
from edge_asr.requests import SessionOptions
from edge_asr.settings import LimitSettings, WorkerSettings
from edge_asr.workers.base import OfferedModel
from edge_asr.workers.models import unknown_model
from edge_asr.workers.served_model import ServedModel
from tests.support.processes import children, descriptors, is_running
from tests.support.waiting import until
from tests.workers import scripted
from tests.workers.conftest import FAST
from tests.workers.scripted import WORD, audio

PCM = SessionOptions(partials=False)
PATIENT = WorkerSettings(restart_delay_s=0.0, max_restart_delay_s=600.0)
AT_ONCE = replace(PATIENT, swap_drain_s=0.0)


class Shelf:
    """Models that say their own name."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.worker = PATIENT

    def offered(self) -> tuple[OfferedModel, ...]:
        languages = {"blue": ("en",), "green": ("ru",), "red": ("ru", "de")}
        return tuple(OfferedModel(name, languages[name], name != "green") for name in languages)

    def find(self, name: str) -> ServedModel:
        names = tuple(model.name for model in self.offered())
        if name not in names:
            raise unknown_model(name, names)
        directory = self._root / name
        directory.mkdir(exist_ok=True)
        (directory / "word").write_text(name)
        model = scripted.model(directory, replace(FAST, worker=self.worker), name)
        (languages,) = (each.languages for each in self.offered() if each.name == name)
        return replace(model, manifest=msgspec.structs.replace(model.manifest, languages=languages))


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path)


@pytest.fixture
async def pool(make_pool, shelf):
    made = make_pool(models=shelf)
    await made.start()
    return made


async def passes(_place) -> None:
    """A trial without a question."""


async def fails(_place) -> None:
    raise GateFailed("it understands nothing")


async def said(session):
    """Texts of the finals, and what else came but the end."""
    events = [event async for event in session.events()]
    assert isinstance(events[-1], SessionEnded), events[-1]
    return [event.text if isinstance(event, Final) else event.code for event in events[:-1]]


async def say(pool, model=""):
    session = await pool.open(SessionOptions(partials=False, model=model), protocol="test")
    await session.send(audio(WORD))
    await session.finish()
    return await said(session)


def roles(pool):
    return [(worker.model, worker.role, worker.sessions) for worker in pool.status().workers]


# Another active model.


async def test_new_sessions_get_the_new_model_and_the_others_go_on_with_theirs(pool, shelf):
    before = await pool.open(PCM, protocol="test")
    old_pid = pool.status().worker_pid
    await before.send(audio(WORD))
    assert (await pool.activate(shelf.find("red"), passes)).name == "scripted"
    assert await say(pool) == ["red"]
    assert roles(pool) == [("red", "active", 0), ("scripted", "other", 1)]
    await before.send(audio(WORD))
    await before.finish()
    assert await said(before) == ["word word"]
    await until(lambda: roles(pool) == [("red", "active", 0)])
    assert not is_running(old_pid)


@pytest.mark.parametrize("trial", [fails, None], ids=["it fails its trial", "it cannot be loaded"])
async def test_a_model_that_cannot_be_used_changes_nothing(make_pool, shelf, trial, tmp_path):
    pool = make_pool("load_but_no_red", models=shelf)
    await pool.start()
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    before = children()
    with pytest.raises(GateFailed if trial else ModelDamaged):
        await pool.activate(shelf.find("green" if trial else "red"), trial or passes)
    assert (children(), roles(pool)) == (before, [("scripted", "active", 1)])
    await session.finish()
    assert await said(session) == ["word"]


async def test_a_worker_that_dies_in_its_trial_changes_nothing(pool, shelf):
    async def die(place):
        session = pool.open_trial(place, PCM)
        os.kill(place.worker.pid, signal.SIGKILL)
        failed = [event async for event in session.events()][-1]
        raise GateFailed(failed.message)

    with pytest.raises(GateFailed, match="the recogniser process ended"):
        await pool.activate(shelf.find("red"), die)
    assert roles(pool) == [("scripted", "active", 0)]
    assert pool.status().restarts == 1


async def test_a_session_moves_to_the_new_model_with_its_next_final_when_its_time_is_over(pool, shelf):
    shelf.worker = AT_ONCE
    session = await pool.open(PCM, protocol="test")
    events = session.events()
    await session.send(audio(WORD, 0, 0))
    await until(lambda: session._consumed_bytes)
    await pool.activate(shelf.find("red"), passes)
    await session.flush()
    first, notice = await anext(events), await anext(events)
    await session.send(audio(WORD))
    await session.finish()
    second, ended = [event async for event in events]
    assert (first.text, first.segment, second.text, second.segment) == ("word", 0, "red", 1)
    assert isinstance(notice, Notice)
    assert notice.code == "model_changed"
    assert "from scripted to red" in notice.message
    assert (second.start_s, ended.audio_s) == (0.3, 0.4)


async def test_a_session_that_asks_for_its_model_by_name_keeps_it(pool, shelf):
    shelf.worker = AT_ONCE
    session = await pool.open(SessionOptions(partials=False, model="scripted"), protocol="test")
    await pool.activate(shelf.find("red"), passes)
    await session.send(audio(WORD))
    await session.flush()
    await session.send(audio(WORD))
    await session.finish()
    assert await said(session) == ["word", "word"]
    await until(lambda: roles(pool) == [("red", "active", 0)])


async def test_the_same_model_again_is_no_change(pool, shelf):
    await pool.activate(shelf.find("red"), passes)
    await until(lambda: len(roles(pool)) == 1)
    pid = pool.status().worker_pid
    assert (await pool.activate(shelf.find("red"), fails)).name == "red"
    assert pool.status().worker_pid == pid


async def test_back_and_forth_while_a_session_of_the_first_model_is_open(pool, shelf):
    blue = shelf.find("blue")
    await pool.activate(blue, passes)
    session = await pool.open(PCM, protocol="test")
    await session.send(audio(WORD))
    await pool.activate(shelf.find("red"), passes)
    await pool.activate(blue, passes)
    assert await say(pool) == ["blue"]
    await session.finish()
    assert await said(session) == ["blue"]
    await until(lambda: roles(pool) == [("blue", "active", 0)])


async def test_many_changes_leave_nothing_behind(pool, shelf, registry):
    await pool.activate(shelf.find("red"), passes)
    await until(lambda: len(roles(pool)) == 1)
    before = descriptors(os.getpid()), len(children())
    for name in ("blue", "red", "blue", "red"):
        await pool.activate(shelf.find(name), passes)
        with pytest.raises(GateFailed):
            await pool.activate(shelf.find("green"), fails)
        assert await say(pool) == [name]
    await until(lambda: len(roles(pool)) == 1)
    assert (descriptors(os.getpid()), len(children())) == before
    served = [sample for metric in registry.collect() for sample in metric.samples if "model" in sample.labels]
    assert len(served) == 1


# A fresh worker.


async def recycled(pool, pid):
    """Wait until another worker has taken over."""
    await until(lambda: pool.status().worker_pid not in (0, pid))


@pytest.fixture
async def worn(make_pool, shelf):
    """A pool whose worker is to be replaced after one session."""
    made = make_pool(models=shelf, worker=replace(PATIENT, recycle_after_sessions=1))
    await made.start()
    await made.check()
    return made


async def test_a_worn_worker_is_replaced_and_its_session_notices_nothing(worn, registry):
    pid = worn.status().worker_pid
    session = await worn.open(PCM, protocol="test")
    events = session.events()
    await session.send(audio(WORD, 0, WORD))
    await until(lambda: session._consumed_bytes)
    await worn.check()
    await recycled(worn, pid)
    assert session.worker.pid == pid  # in the middle of a segment
    await session.flush()
    first = await anext(events)
    assert session.worker.pid == worn.status().worker_pid
    await session.send(audio(0, WORD))
    await session.finish()
    second, ended = [event async for event in events]
    assert [(final.text, final.start_s) for final in (first, second)] == [("word word", 0.0), ("word", 0.4)]
    assert ended.audio_s == 0.5
    await until(lambda: not is_running(pid))
    count = registry.get_sample_value("edge_asr_worker_restarts_total", {"worker": "0", "reason": "sessions"})
    assert (count, worn.status().restarts) == (1, 0)


async def test_a_session_between_two_segments_moves_at_once(worn):
    pid = worn.status().worker_pid
    session = await worn.open(PCM, protocol="test")
    await worn.check()
    await recycled(worn, pid)
    await until(lambda: session.worker.pid == worn.status().worker_pid)
    await session.send(audio(WORD))
    await session.finish()
    assert await said(session) == ["word"]


async def test_a_leaving_worker_that_dies_gives_its_sessions_to_the_fresh_one(worn):
    pid = worn.status().worker_pid
    session = await worn.open(PCM, protocol="test")
    await session.send(audio(WORD, 0, 0))
    await until(lambda: session._consumed_bytes)
    await worn.check()
    await recycled(worn, pid)
    os.kill(pid, signal.SIGKILL)
    await session.send(audio(WORD))
    await session.finish()
    assert await said(session) == ["engine_restarted", "word word"]
    await until(lambda: len(worn.status().workers) == 1)


async def test_a_worker_is_kept_when_no_other_one_can_be_loaded(make_pool):
    pool = make_pool("load_once", worker=replace(PATIENT, recycle_after_sessions=1))
    await pool.start()
    await pool.check()
    pid = pool.status().worker_pid
    assert await say(pool) == ["word"]
    await pool.check()
    await until(lambda: pool._changes._recycling is None)
    assert pool.status().worker_pid == pid
    assert await say(pool) == ["word"]


async def test_where_two_do_not_fit_a_worker_is_kept_as_long_as_it_has_sessions(worn):
    pid = worn.status().worker_pid
    worn._changes._free_bytes = lambda: 1 << 20
    session = await worn.open(PCM, protocol="test")
    await worn.check()
    await until(lambda: worn._changes._recycling is None)
    assert worn.status().worker_pid == pid
    session.cancel()


async def test_where_two_do_not_fit_a_worker_without_sessions_goes_first(worn):
    pid = worn.status().worker_pid
    worn._changes._free_bytes = lambda: 1 << 20
    assert await say(worn) == ["word"]
    await worn.check()
    await until(lambda: worn._changes._recycling is None)
    assert await say(worn) == ["word"]
    assert worn.status().worker_pid != pid
    assert not is_running(pid)
    assert (worn.status().state, worn.status().restarts) == ("ready", 0)


# Nobody speaks.


@pytest.fixture
async def sleepy(make_pool, shelf):
    """A pool that unloads a model after ten seconds of its clock."""
    clock = ManualClock()
    made = make_pool(models=shelf, worker=replace(PATIENT, idle_unload_s=10.0), clock=clock)
    await made.start()
    clock.advance_ms(10_001)
    return made


async def test_an_unused_model_is_unloaded_and_the_first_audio_brings_it_back(sleepy):
    pid = sleepy.status().worker_pid
    await sleepy.check()
    assert (sleepy.status().state, sleepy.status().is_healthy) == ("idle", True)
    await until(lambda: sleepy.status().worker_pid == 0)
    assert not is_running(pid)
    assert await say(sleepy) == ["word"]
    assert (sleepy.status().state, sleepy.status().restarts) == ("ready", 0)


async def test_a_session_that_comes_while_the_model_is_being_unloaded_loses_nothing(sleepy):
    await sleepy.check()
    assert await say(sleepy) == ["word"]


async def test_a_model_that_is_in_use_stays(sleepy):
    session = await sleepy.open(PCM, protocol="test")
    await sleepy.check()
    assert sleepy.status().state == "ready"
    session.cancel()


# Models by name.


async def test_a_session_gets_the_model_it_asks_for(pool):
    assert await say(pool, "red") == ["red"]
    assert await say(pool) == ["word"]
    assert roles(pool) == [("scripted", "active", 0), ("red", "other", 0)]


async def test_many_who_ask_for_a_model_at_once_get_one_worker(pool):
    assert await asyncio.gather(*(say(pool, "red") for _ in range(4))) == [["red"]] * 4
    assert len(pool.status().workers) == 2


async def test_the_model_that_was_idle_longest_makes_room(make_pool, shelf):
    pool = make_pool(models=shelf, limits=LimitSettings(max_models=3))
    await pool.start()
    for name in ("red", "green", "red", "blue"):
        assert await say(pool, name) == [name]
    assert sorted(worker.model for worker in pool.status().workers) == ["blue", "red", "scripted"]


async def test_models_in_use_leave_no_room(pool):
    session = await pool.open(SessionOptions(model="red"), protocol="test")
    with pytest.raises(ModelsBusy, match="'blue' cannot be loaded beside 'scripted', 'red', which are in use"):
        await pool.open(SessionOptions(model="blue"), protocol="test")
    session.cancel()
    assert await say(pool, "blue") == ["blue"]


async def test_a_model_that_does_not_fit_is_refused_with_both_figures(pool):
    pool._changes._free_bytes = lambda: 5 << 20
    with pytest.raises(NotEnoughMemory, match=r"'red' beside what is loaded needs about 91 MiB and 5 MiB are free"):
        await pool.open(SessionOptions(model="red"), protocol="test")


@pytest.mark.parametrize("name", ["nosuch", "../red", "/etc/passwd", "http://example.org/m", "x" * 5000])
async def test_a_name_that_is_not_installed_is_refused_with_those_that_are(pool, name):
    with pytest.raises(ModelNotFound, match=r"installed are: blue, green, red$") as caught:
        await pool.open(SessionOptions(model=name), protocol="test")
    assert len(str(caught.value)) < 120


async def test_the_models_that_can_be_asked_for_begin_with_the_active_one(pool, shelf):
    await pool.activate(shelf.find("green"), passes)
    assert await pool.names() == ("green", "blue", "red")


# Models by language. The active one speaks English.


async def say_in(pool, language):
    session = await pool.open(SessionOptions(partials=False, language=language), protocol="test")
    await session.send(audio(WORD))
    await session.finish()
    return await said(session)


@pytest.mark.parametrize(("language", "word"), [("", "word"), ("en-US", "word"), ("ru", "red"), ("de_AT", "red")])
async def test_a_session_gets_a_model_of_its_language_where_the_active_one_does_not_speak_it(pool, language, word):
    assert await say_in(pool, language) == [word]


async def test_a_language_that_no_model_speaks_is_not_served_without_a_word(pool):
    assert await say_in(pool, "fr") == ["language_ignored", "word"]
    session = await pool.open(SessionOptions(partials=False, language="fr"), protocol="test")
    await session.finish()
    (notice,) = [event async for event in session.events() if isinstance(event, Notice)]
    assert (notice.code, notice.message) == ("language_ignored", "no installed model speaks 'fr'; scripted hears en")


async def test_of_two_models_of_a_language_the_one_that_is_loaded_is_taken(pool):
    assert await say(pool, "green") == ["green"]
    assert await say_in(pool, "ru") == ["green"]


async def test_where_one_model_may_be_loaded_a_language_changes_nothing(make_pool, shelf):
    pool = make_pool(models=shelf, limits=LimitSettings(max_models=1))
    await pool.start()
    assert await say_in(pool, "ru") == ["language_ignored", "word"]
    assert pool.status().offered == ()


async def test_a_session_stays_with_the_model_that_speaks_its_language(pool, shelf):
    shelf.worker = AT_ONCE
    session = await pool.open(SessionOptions(partials=False, language="en"), protocol="test")
    await pool.activate(
        replace(shelf.find("red"), manifest=msgspec.structs.replace(shelf.find("red").manifest, languages=("ru",))),
        passes,
    )
    await session.send(audio(WORD))
    await session.flush()
    await session.send(audio(WORD))
    await session.finish()
    assert await said(session) == ["word", "word"]


async def test_the_status_names_what_can_be_asked_for_besides_the_active_model(pool):
    assert [(model.name, model.languages) for model in pool.status().offered] == [
        ("blue", ("en",)),
        ("green", ("ru",)),
        ("red", ("ru", "de")),
    ]
