"""What an administrator may do with a running daemon: activate, roll back, reload, drain. Asyncio, no numpy.

Whatever fails changes nothing and says why. A model is looked into, digested, loaded and tried before any session
comes to it; only then the store is told that it is active, and only then it is.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from edge_asr.errors import ConfigurationError, EdgeAsrError, ModelUnsupported, NotReady, StoreNotWritable
from edge_asr.settings import Settings
from edge_asr.store.digest import check_files
from edge_asr.store.inspect import inspect_model
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.tracing.recognizer import Traced, TracedRecognizer
from edge_asr.workers.models import StoreModels, recognises_speech, served, unknown_model
from edge_asr.workers.place import Place
from edge_asr.workers.pool import Pool
from edge_asr.workers.settings_change import SettingsChange, compare
from edge_asr.workers.trial import DEFAULT_MAX_WER, ModelTrial

ANY_WORDS = 1.0
"""A word error rate that is never exceeded: what was active already need not prove again what it understands."""

_logger = logging.getLogger(__name__)


class Activation(msgspec.Struct, frozen=True):
    """What became of an activation."""

    active: str
    before: str
    """The same name where nothing had to be changed."""
    trial: str
    """What the trial has shown, as a sentence; empty where there was none."""
    note: str
    """What else should be known; may be empty."""


class Reload(msgspec.Struct, frozen=True):
    """What became of a reload."""

    active: str
    before: str
    applied: tuple[str, ...]
    """Settings that changed and hold now."""
    needs_restart: tuple[str, ...]
    """Settings that changed and hold only after a restart."""


class Administration:
    """The daemon's own, over its pool and its store.

    Args:
        pool: The workers.
        store: Where models are; written by activations.
        models: What sessions may ask for.
        settings: As the daemon was started.
        read_settings: Merges the configuration anew, for the model of that name (empty: the configured one); raises
            ``ConfigurationError``.
    """

    def __init__(
        self,
        pool: Pool,
        store: ModelStore,
        models: StoreModels,
        settings: Settings,
        read_settings: Callable[[str], Settings],
    ) -> None:
        self._pool = pool
        self._store = store
        self._models = models
        self._settings = settings
        self._read_settings = read_settings
        self._activated = ""
        """By request, since the daemon began or the configuration named another model."""
        self.tracing: TracedRecognizer | None = None
        """Who writes sessions down; ``None`` where there is no place for it."""
        self._turn = asyncio.Lock()

    def describe(self) -> dict[str, Any]:
        """Which daemon this is: its process, its store, its model; and what a change of model is judged by."""
        status = self._pool.status()
        stats = status.stats
        return {
            "pid": os.getpid(),
            "store": self._writable_store(),
            "model": self._pool.active_model.name,
            "state": status.state,
            "sessions": status.sessions,
            "restarts": status.restarts,
            "live_steps": stats.live_streams if stats else 0,
            "late_steps": stats.late_streams if stats else 0,
        }

    async def activate(self, name: str, max_wer: float | None = None) -> Activation:
        """Make an installed model the active one, now and after a restart.

        Args:
            name: Store name.
            max_wer: Highest word error rate on the bundled recordings; ``None`` for the default.

        Raises:
            ModelError: It is not installed, damaged, or cannot be loaded.
            MachineError: It does not fit, or the store cannot be written.
            GateFailed: It misunderstands the recordings.
            NotReady: The daemon is still starting.
            ConfigurationError: The configuration cannot be read any more.
        """
        async with self._turn:
            self._require_start()
            model = await asyncio.to_thread(self._find, name)
            limit = DEFAULT_MAX_WER if max_wer is None else max_wer
            served_now = await asyncio.to_thread(self._name_in_store)
            return await self._switch(model, limit, lambda: self._store.activate(name, served_now))

    async def rollback(self) -> Activation:
        """Go back to the model that was active before, now and after a restart.

        Raises:
            ConfigurationError: Nothing was activated before.
            ModelError: That model is gone, damaged, or cannot be loaded.
            MachineError: It does not fit, or the store cannot be written.
        """
        async with self._turn:
            self._require_start()
            model = await asyncio.to_thread(self._store.previous)
            return await self._switch(model, ANY_WORDS, self._store.rollback)

    async def reload(self) -> Reload:
        """Read the configuration again and apply what can be applied while sessions run.

        Raises:
            ConfigurationError: A file is broken; nothing has changed.
            EdgeAsrError: The model cannot be served like that; nothing has changed.
        """
        async with self._turn:
            self._require_start()
            settings = await asyncio.to_thread(self._read_settings, "")
            change = compare(self._settings, settings)
            before = self._pool.active_model.name
            await self._serve_as_configured(settings)
            self._apply(settings, change)
            return Reload(self._pool.active_model.name, before, change.applied, change.needs_restart)

    def trace(self, session: str, max_s: float) -> Traced:
        """Write a session down: its audio, its events and when they came.

        Raises:
            ConfigurationError: There is no such session, or this daemon has nowhere to write traces.
        """
        if self.tracing is None:
            raise ConfigurationError("this daemon has nowhere to write traces; set log.trace_directory")
        return self.tracing.trace(session, max_s)

    def drain(self) -> dict[str, Any]:
        """Open no more sessions; those that are open go on."""
        self._pool.drain("the daemon was told to drain")
        _logger.info("draining: no more sessions are opened")
        return self.describe()

    def end_drain(self) -> dict[str, Any]:
        """Open sessions again."""
        self._pool.end_drain()
        _logger.info("sessions are opened again")
        return self.describe()

    # The active model.

    def _require_start(self) -> None:
        """Nothing can be put in the place of a model that is still being loaded for the first time."""
        status = self._pool.status()
        if status.ready is None:
            raise NotReady(status.reason)

    async def _switch(self, model: InstalledModel, max_wer: float, record: Callable[[], object]) -> Activation:
        self._require_writable_store()
        try:
            settings = await asyncio.to_thread(self._read_settings, model.manifest.name)
        except ConfigurationError as error:
            active, name = self._pool.active_model.name, model.manifest.name
            raise ConfigurationError(
                f"{name} is not activated and {active} goes on, since the daemon's configuration is wrong: {error}"
            ) from error
        before, report = await self._serve(model, settings, max_wer, record)
        self._activated = model.manifest.name
        return Activation(model.manifest.name, before, report, self._note_of_pinning(model.manifest.name))

    async def _serve(
        self, model: InstalledModel, settings: Settings, max_wer: float, record: Callable[[], object]
    ) -> tuple[str, str]:
        """Serve it if it passes; the name of the one before, and what the trial has shown."""
        await asyncio.to_thread(_look_into, model)
        trial = ModelTrial(self._pool, max_wer)
        is_recorded = False

        async def try_and_record(place: Place) -> None:
            nonlocal is_recorded
            await trial(place)
            await asyncio.to_thread(record)
            is_recorded = True

        before = await self._pool.activate(served(self._store, model, settings), try_and_record)
        if not is_recorded:
            await asyncio.to_thread(record)
        return before.name, str(trial.report or "")

    def _find(self, name: str) -> InstalledModel:
        names = self._models.names()
        if name not in names:
            model = self._store.installed_or_none(name)
            if model is not None and not recognises_speech(model):
                raise ModelUnsupported(name, "it does not recognise speech")
            raise unknown_model(name, names)
        return self._store.find(name)

    def _name_in_store(self) -> str:
        """Of the model that serves, to which a rollback is to come back; empty for one from another directory."""
        active = self._pool.active_model
        found = self._store.installed_or_none(active.name)
        return active.name if found is not None and found.directory == active.directory else ""

    def _writable_store(self) -> str:
        try:
            return str(self._store.writable_root)
        except StoreNotWritable:
            return ""

    def _require_writable_store(self) -> None:
        _ = self._store.writable_root

    def _note_of_pinning(self, name: str) -> str:
        named = self._settings.model
        if not named or named == name:
            return ""
        return f"this daemon was started with model {named!r} (-m, or the configuration) and takes it again next time"

    # The configuration.

    async def _serve_as_configured(self, settings: Settings) -> None:
        active = self._pool.active_model
        name = settings.model
        if name and name == self._settings.model and self._activated:
            # The configuration asks for what it asked for before, and somebody has asked for another one since.
            name = self._activated
            settings = await asyncio.to_thread(self._read_settings, name)
        find = functools.partial(self._store.resolve, name) if name else self._store.active
        model = await asyncio.to_thread(find)
        # What the store calls active was tried when it was activated; what is active already serves.
        was_tried = not name or model.manifest.name == active.name
        if not served(self._store, model, settings).is_like(active):
            await self._serve(model, settings, ANY_WORDS if was_tried else DEFAULT_MAX_WER, lambda: None)

    def _apply(self, settings: Settings, change: SettingsChange) -> None:
        if settings.model != self._settings.model:
            self._activated = ""
        self._settings = change.held
        self._models.settings = settings
        self._pool.limit_sessions(settings.limits.max_sessions)
        self._pool.limit_models(settings.limits.max_models)
        if "log.level" in change.applied:
            logging.getLogger("edge_asr").setLevel(settings.log.level.upper())


def _look_into(model: InstalledModel) -> None:
    check_files(model.manifest, model.directory)
    inspect_model(model.directory, model.manifest)


async def log_reload(reload: Callable[[], Awaitable[Reload]]) -> None:
    """Reload for a signal, which has nobody to answer to but the log."""
    try:
        done = await reload()
    except EdgeAsrError as error:
        _logger.warning("the configuration is not reloaded, and nothing has changed: %s", error)
        return
    _logger.info("%s", summary(done))


def summary(reload: Reload) -> str:
    """What a reload did, in one line."""
    parts = []
    if reload.active != reload.before:
        parts.append(f"{reload.active} is served in place of {reload.before}")
    if reload.applied:
        parts.append(f"applied: {', '.join(reload.applied)}")
    if reload.needs_restart:
        parts.append(f"needs a restart: {', '.join(reload.needs_restart)}")
    return f"the configuration was read again; {'; '.join(parts) or 'nothing has changed'}"
