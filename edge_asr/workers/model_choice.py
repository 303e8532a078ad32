"""Which model a session gets: the one that it names, one that speaks its language, a lighter one, or the active one.

Asyncio: the store is looked into, and a model may have to be loaded.
"""

from __future__ import annotations

import asyncio
import logging

from edge_asr.errors import EdgeAsrError
from edge_asr.languages import speaks
from edge_asr.requests import SessionOptions
from edge_asr.workers.base import OfferedModel
from edge_asr.workers.capacity import Capacity
from edge_asr.workers.changes import Changes
from edge_asr.workers.models import Models
from edge_asr.workers.place import Place
from edge_asr.workers.roster import Roster

_logger = logging.getLogger(__name__)


class ModelChoice:
    """Among the models of a store, and the places that serve some of them.

    Args:
        models: Those that sessions may ask for by name.
        roster: The places.
        changes: Loads one more.
        capacity: Whether the active model has room.
    """

    def __init__(self, models: Models, roster: Roster, changes: Changes, capacity: Capacity) -> None:
        self._models = models
        self._roster = roster
        self._changes = changes
        self._capacity = capacity
        self._offered: tuple[OfferedModel, ...] = ()

    async def look_into_the_store(self) -> None:
        """See what is installed now."""
        self._offered = await asyncio.to_thread(self._models.offered)

    @property
    def others(self) -> tuple[OfferedModel, ...]:
        """What sessions may ask for besides the active model, as of the last look."""
        active = self._roster.active.model.name
        return tuple(model for model in self._offered if model.name != active)

    async def wanted(self, options: SessionOptions) -> str:
        """The model that a session asks for, by name or by language; empty to stay with the active one."""
        return options.model or await self._by_language(options.language)

    async def places(self, wanted: str, options: SessionOptions) -> list[Place]:
        """Those that serve the session's model, which is loaded if need be.

        Args:
            wanted: As :meth:`wanted` says.
            options: Of the session.

        Raises:
            ModelNotFound: It is not installed.
            ModelsBusy: It cannot be loaded beside the others, which are in use.
            NotEnoughMemory: It does not fit beside the others.
            ModelError: It cannot be loaded.
            MachineError: The provider or the machine cannot do it.
        """
        active = self._roster.all_serving(self._roster.active.model.name)
        name = wanted or self._lighter(options)
        if name in ("", self._roster.active.model.name):
            return active
        try:
            return self._roster.all_serving(name) or [await self._changes.place_for(name)]
        except EdgeAsrError as error:
            if wanted:
                raise
            _logger.warning("the lighter model cannot be had: %s", error)
            return active

    async def _by_language(self, language: str) -> str:
        """An installed model that speaks a language which the active one does not; loaded ones first."""
        if speaks(self._roster.active.model.manifest.languages, language) or self._changes.max_models == 1:
            return ""
        await self.look_into_the_store()
        able = [model for model in self.others if model.languages and speaks(model.languages, language)]
        loaded = {place.model.name for place in self._roster if place.takes_sessions}
        best = min(able, key=lambda model: (model.name not in loaded, not model.hears_everything), default=None)
        return best.name if best is not None else ""

    def _lighter(self, options: SessionOptions) -> str:
        """Empty unless a live session that names no model is to get the lighter one."""
        active = self._roster.active.model.name
        name = "" if options.is_batch else self._capacity.lighter_model(self._roster.all_serving(active))
        return "" if name == active else name
