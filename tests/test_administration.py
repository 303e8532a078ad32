"""What an administrator does to a running pool and its store: real workers, the weights of the bundled model."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from edge_asr.administration import Administration, log_reload, summary
from edge_asr.errors import ConfigurationError, EdgeAsrError, ModelNotFound, NotReady, StoreNotWritable
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.settings import CommandSettings, EngineSettings, LimitSettings, ServerSettings, Settings, WorkerSettings
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import ModelStore
from edge_asr.workers.models import StoreModels, served
from edge_asr.workers.pool import Pool
from tests.support.waiting import until
from tools.model_swaps import fill_store

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two good models and some that are damaged."""
    root = tmp_path_factory.mktemp("store")
    fill_store(root)
    return root


@dataclass
class Running:
    """A daemon without doors."""

    store: ModelStore
    pool: Pool
    settings: Settings
    """What the configuration says now."""
    is_broken: bool = False
    """Whether its file is."""

    def __post_init__(self) -> None:
        models = StoreModels(self.store, self.settings)
        self.admin = Administration(self.pool, self.store, models, self.settings, self._read)

    def _read(self, _name: str) -> Settings:
        if self.is_broken:
            raise ConfigurationError("edge-asr.toml is not TOML")
        return self.settings

    @property
    def facts(self) -> tuple[object, ...]:
        """What must be the same when nothing has changed."""
        workers = [(worker.model, worker.role, worker.pid) for worker in self.pool.status().workers]
        return workers, self.store.active().manifest.name


@pytest.fixture
async def daemon(filled: Path, tmp_path: Path) -> AsyncIterator[Running]:
    """It serves twin-a; twin-b was active before."""
    root = tmp_path / "store"
    shutil.copytree(filled, root, copy_function=lambda source, target: Path(target).hardlink_to(source))
    store = ModelStore(StoreLocations((root,), root))
    store.activate("twin-b")
    model = store.activate("twin-a")
    pool = Pool(served(store, model, Settings()), Instruments(new_registry()))
    await pool.start()
    yield Running(store, pool, Settings())
    await pool.close(0)


async def alone(daemon: Running) -> None:
    """Wait until nobody drains any more."""
    await until(lambda: len(daemon.pool.status().workers) == 1)


async def test_an_activated_model_is_served_and_recorded(daemon: Running) -> None:
    done = await daemon.admin.activate("twin-b")
    await alone(daemon)
    assert (done.active, done.before, done.note) == ("twin-b", "twin-a", "")
    assert "twin-b was tried with 16 recordings: word error rate" in done.trial
    assert (daemon.pool.active_model.name, daemon.store.active().manifest.name) == ("twin-b", "twin-b")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("flipped-bytes", "model_damaged"),
        ("truncated", "model_damaged"),
        ("truncated-as-imported", "model_damaged"),
        ("wrong-family", "model_unsupported"),
        ("nan-weights", "gate_failed"),
        ("noise-weights", "gate_failed"),
    ],
)
async def test_a_damaged_model_changes_nothing(daemon: Running, name: str, code: str) -> None:
    before = daemon.facts
    with pytest.raises(EdgeAsrError) as caught:
        await daemon.admin.activate(name)
    assert (caught.value.code, daemon.facts) == (code, before)


async def test_a_rollback_comes_back_to_what_was_served_though_the_store_called_another_one_active(
    daemon: Running,
) -> None:
    daemon.store.activate("twin-b")  # as when the daemon was started with -m twin-a
    await daemon.admin.activate("twin-b")
    assert daemon.store.previous().manifest.name == "twin-a"
    assert (await daemon.admin.rollback()).active == "twin-a"


async def test_a_model_that_is_not_installed_is_refused_with_those_that_are(daemon: Running) -> None:
    with pytest.raises(ModelNotFound, match=r"installed are: .*twin-a, twin-b"):
        await daemon.admin.activate("twin-c")


async def test_a_rollback_goes_back_and_is_recorded(daemon: Running) -> None:
    done = await daemon.admin.rollback()
    assert (done.active, done.before) == ("twin-b", "twin-a")
    assert daemon.store.active().manifest.name == "twin-b"


async def test_a_store_that_cannot_be_written_changes_nothing(daemon: Running, filled: Path) -> None:
    before = daemon.pool.status().worker_pid
    store = ModelStore(StoreLocations((filled,), Path("/proc/no-store")))
    admin = Administration(daemon.pool, store, StoreModels(store, Settings()), Settings(), lambda _: Settings())
    with pytest.raises(StoreNotWritable):
        await admin.activate("twin-b")
    assert (daemon.pool.status().worker_pid, daemon.pool.active_model.name) == (before, "twin-a")
    assert admin.describe()["store"] == ""


async def test_a_reload_applies_what_it_can_and_names_what_needs_a_restart(daemon: Running) -> None:
    pid = daemon.pool.status().worker_pid
    changed = Settings(
        engine=EngineSettings(threads=2), limits=LimitSettings(max_sessions=3), server=ServerSettings(port=1)
    )
    daemon.settings = changed
    done = await daemon.admin.reload()
    await alone(daemon)
    assert done.applied == ("engine.threads", "limits.max_sessions")
    assert done.needs_restart == ("server.port",)
    status = daemon.pool.status()
    assert (status.max_sessions, status.ready.threads if status.ready else 0) == (3, 2)
    assert status.worker_pid != pid
    again = await daemon.admin.reload()
    assert (again.applied, again.needs_restart) == ((), ("server.port",))
    assert summary(again) == "the configuration was read again; needs a restart: server.port"


async def test_a_reload_reads_the_sentences_of_spoken_commands_again(daemon: Running, tmp_path: Path) -> None:
    sentences = tmp_path / "commands.yaml"
    daemon.settings = Settings(commands=CommandSettings(file=str(sentences)))
    before = daemon.facts
    with pytest.raises(ConfigurationError, match=r"commands\.yaml"):
        await daemon.admin.reload()
    assert daemon.facts == before
    pids = []
    for word in ("on", "on", "off"):
        sentences.write_text(f"language: en\nintents:\n  Turn:\n    data:\n      - sentences: [turn it {word}]\n")
        await daemon.admin.reload()
        await alone(daemon)
        pids.append(daemon.pool.status().worker_pid)
    assert pids[0] == pids[1] != pids[2]
    assert "word error rate" not in (await daemon.admin.activate("twin-b")).trial  # it hears these sentences only


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two workers need two cores")
async def test_a_reload_changes_the_number_of_workers(daemon: Running) -> None:
    daemon.settings = Settings(worker=WorkerSettings(count=2))
    assert (await daemon.admin.reload()).applied == ("worker.count",)
    await until(lambda: len(daemon.pool.status().workers) == 2)
    assert [worker.role for worker in daemon.pool.status().workers] == ["active", "twin"]
    daemon.settings = Settings(worker=WorkerSettings(count=1))
    await daemon.admin.reload()
    await alone(daemon)


async def test_a_reload_of_an_unchanged_configuration_keeps_the_worker(daemon: Running) -> None:
    before = daemon.facts
    assert summary(await daemon.admin.reload()) == "the configuration was read again; nothing has changed"
    assert daemon.facts == before


async def test_a_reload_takes_the_model_that_was_activated_in_the_store(daemon: Running) -> None:
    daemon.store.activate("twin-b")
    done = await daemon.admin.reload()
    assert (done.before, done.active, daemon.pool.active_model.name) == ("twin-a", "twin-b", "twin-b")


async def test_a_reload_takes_the_model_that_the_configuration_names(daemon: Running) -> None:
    daemon.settings = Settings(model="twin-b")
    done = await daemon.admin.reload()
    assert (done.active, done.applied) == ("twin-b", ("model",))


async def test_what_was_activated_stays_where_the_configuration_names_the_same_model_as_before(
    daemon: Running,
) -> None:
    daemon.settings = Settings(model="twin-a")
    await daemon.admin.reload()
    done = await daemon.admin.activate("twin-b")
    assert done.note == (
        "this daemon was started with model 'twin-a' (-m, or the configuration) and takes it again next time"
    )
    assert (await daemon.admin.reload()).active == "twin-b"


async def test_a_broken_configuration_changes_nothing_and_is_logged(
    daemon: Running, caplog: pytest.LogCaptureFixture
) -> None:
    before = daemon.facts
    daemon.is_broken = True
    await log_reload(daemon.admin.reload)
    assert daemon.facts == before
    assert "nothing has changed: edge-asr.toml is not TOML" in caplog.text


async def test_an_activation_under_a_broken_configuration_says_what_became_of_it(daemon: Running) -> None:
    daemon.is_broken = True
    with pytest.raises(ConfigurationError, match=r"twin-b is not activated and twin-a goes on, .*not TOML"):
        await daemon.admin.activate("twin-b")


async def test_a_provider_that_is_none_changes_nothing(daemon: Running) -> None:
    before = daemon.facts
    daemon.settings = replace(daemon.settings, engine=EngineSettings(provider="bogus"))
    with pytest.raises(ConfigurationError, match="bogus"):
        await daemon.admin.reload()
    assert daemon.facts == before


async def test_nothing_is_changed_before_the_first_model_is_loaded(filled: Path) -> None:
    store = ModelStore(StoreLocations((filled,), filled))
    pool = Pool(served(store, store.find("twin-a"), Settings()), Instruments(new_registry()))
    admin = Administration(pool, store, StoreModels(store, Settings()), Settings(), lambda _: Settings(model="twin-b"))
    for change in (admin.reload, admin.rollback, lambda: admin.activate("twin-b")):
        with pytest.raises(NotReady, match="the model is being loaded"):
            await change()


async def test_draining_refuses_sessions_until_it_is_taken_back(daemon: Running) -> None:
    assert daemon.admin.drain()["state"] == "draining"
    assert daemon.pool.status().is_healthy is False
    assert daemon.admin.end_drain()["state"] == "ready"
