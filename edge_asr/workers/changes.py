"""Workers come and go while sessions run: another model by name, another active model, a fresh worker. Asyncio.

One change at a time. Each begins with a worker more: whatever fails leaves everything as it was.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from edge_asr.clock import Clock
from edge_asr.errors import EdgeAsrError, ModelsBusy, NotEnoughMemory
from edge_asr.metrics.instruments import Instruments
from edge_asr.resources.memory import available_bytes
from edge_asr.workers.handover import Handover
from edge_asr.workers.models import Models
from edge_asr.workers.place import Place
from edge_asr.workers.recycling import RecycleReason, reason_to_recycle
from edge_asr.workers.roster import Roster
from edge_asr.workers.served_model import ServedModel

RECYCLE_AGAIN_S = 600.0
"""After a recycling that failed, or found too little memory for a second worker."""

PRESSED_AGAIN_S = 60.0
"""Between two recyclings for lack of memory: what its sessions really need, a fresh worker needs too."""

Trial = Callable[[Place], Awaitable[None]]
"""Raises when the place must not be used."""

_logger = logging.getLogger(__name__)


class Changes:
    """Adds and takes away the workers of a roster.

    Args:
        roster: The places.
        handover: Moves their sessions.
        models: What can be asked for by name.
        max_models: How many may be loaded at once.
        instruments: Where recycled workers are counted.
        clock: What ages are read from.
        free_bytes: Memory that can be used without swapping.
    """

    def __init__(
        self,
        roster: Roster,
        handover: Handover,
        models: Models,
        max_models: int,
        instruments: Instruments,
        clock: Clock,
        free_bytes: Callable[[], int] = available_bytes,
    ) -> None:
        self._roster = roster
        self._handover = handover
        self._models = models
        self.max_models = max_models
        self._instruments = instruments
        self._clock = clock
        self._free_bytes = free_bytes
        self._lock = asyncio.Lock()
        self._not_before_ns = 0
        self._recycling: asyncio.Task[None] | None = None

    # Another model.

    async def place_for(self, name: str) -> Place:
        """The place of a model that a session asks for by name; loaded when it is not.

        Raises:
            ModelNotFound: It is not installed.
            ModelsBusy: As many as may be are loaded and in use.
            NotEnoughMemory: It does not fit beside the others.
            ModelError: It cannot be loaded.
            MachineError: The provider or the machine cannot do it.
        """
        async with self._lock:
            if place := self._roster.serving(name):
                return place
            model = await asyncio.to_thread(self._models.find, name)
            await self._make_room(model)
            place = await self._load(model)
            place.role = "other"
            return place

    async def activate(self, model: ServedModel, trial: Trial) -> Place:
        """Make a model the active one: a worker is started with it and tried, then new sessions come to it.

        Sessions of the model before may go on for ``worker.swap_drain_s``; then they are moved between two segments.

        Args:
            model: The model.
            trial: Raises when the worker must not be used.

        Returns:
            The place of the model that was active before; the active place itself when it is like this already.

        Raises:
            NotEnoughMemory: It does not fit beside the others.
            ModelError: It cannot be loaded.
            MachineError: The provider or the machine cannot do it.
            GateFailed: The trial said no.
        """
        async with self._lock:
            before = self._roster.active
            if before.model.is_like(model) and before.worker.state != "failed":
                return before
            loaded = self._roster.serving(model.name)
            if loaded is not None and loaded is not before and loaded.model.is_like(model):
                await trial(loaded)
                place = loaded
            else:
                await self._find_memory(model)
                place = await self._load(model, trial, before.slot)
                if loaded is not None and loaded is not before:
                    self._handover.take_over(place, loaded, everybody=True, after_s=0.0)
            self._roster.activate(place)
            is_same_name = before.model.name == model.name
            drain_s = model.settings.worker.swap_drain_s
            for leaving in (before, *self._roster.twins):
                leaving.role = "other"
                self._handover.take_over(place, leaving, everybody=is_same_name, after_s=drain_s)
            left = "the worker before it" if is_same_name else before.model.name
            _logger.info("%s is active; %s drains", place.model.name, left)
            await self._add_twins()
            return before

    async def add_twins(self) -> None:
        """Start the other workers of the active model; with fewer than configured it is served all the same."""
        async with self._lock:
            await self._add_twins()

    async def _add_twins(self) -> None:
        model = self._roster.active.model
        slots = range(len(self._roster.placement(model).workers))
        taken = {place.slot for place in (self._roster.active, *self._roster.twins)}
        for slot in slots:
            if slot in taken:
                continue
            try:
                await self._find_memory(model)
                twin = await self._load(model, slot=slot)
            except EdgeAsrError as error:
                _logger.warning("%d of %d workers serve %s: %s", len(taken), len(slots), model.name, error)
                return
            twin.role = "twin"
            taken.add(slot)

    async def _load(self, model: ServedModel, trial: Trial | None = None, slot: int | None = None) -> Place:
        place = self._roster.add(model, "trial", slot)
        try:
            await place.worker.start()
            if trial is not None:
                await trial(place)
        except BaseException:
            await self._roster.end(place)
            raise
        return place

    # Room for it.

    async def _make_room(self, model: ServedModel) -> None:
        while len(served := self._served_names()) >= self.max_models:
            idle = self._idlest()
            if idle is None:
                raise ModelsBusy(model.name, served)
            await self._roster.end(idle)
        await self._find_memory(model)

    def _served_names(self) -> list[str]:
        return list(dict.fromkeys(place.model.name for place in self._roster if place.takes_sessions))

    async def _find_memory(self, model: ServedModel) -> None:
        while model.needed_bytes > self._free_bytes():
            idle = self._idlest()
            if idle is None:
                raise NotEnoughMemory(
                    model.needed_bytes >> 20, self._free_bytes() >> 20, f"model {model.name!r} beside what is loaded"
                )
            await self._roster.end(idle)

    def _idlest(self) -> Place | None:
        """The place that can be done without: not active, without sessions, and not used for the longest time."""
        idle = [place for place in self._roster if place.role == "other" and not self._handover.sessions_of(place)]
        return min(idle, key=lambda place: place.used_ns, default=None)

    # A fresh worker.

    def recycle_the_worn(self) -> None:
        """Replace a worker that is worn out, if there is one; called from time to time."""
        if self._recycling is not None:
            return
        is_early = self._clock.now_ns() < self._not_before_ns
        for place in self._roster:
            if is_early and not self._serves_nobody(place):
                continue
            if place.takes_sessions and place.worker.state == "ready":
                wear = place.wear(self._clock.now_ns())
                pressed: RecycleReason = "memory" if place.vitals.pressure != "none" else ""
                if reason := pressed or reason_to_recycle(wear, place.model.settings.worker):
                    self._recycling = asyncio.create_task(self._recycle(place, reason), name="recycling")
                    return

    def _serves_nobody(self, place: Place) -> bool:
        """Whether it takes no sessions and no session needs the memory: a fresh one will do with less at once."""
        return place.vitals.pressure == "hard" and not self._handover.sessions_of(place)

    async def _recycle(self, place: Place, reason: RecycleReason) -> None:
        try:
            async with self._lock:
                await self._replace(place, reason)
        except NotEnoughMemory as error:
            self._replace_at_once(place, reason, error)
        except EdgeAsrError as error:
            _logger.warning("worker %s is not recycled (%s): %s", place.worker.name, reason, error)
            self._not_before_ns = self._clock.now_ns() + round(RECYCLE_AGAIN_S * 1e9)
        finally:
            self._recycling = None

    def _replace_at_once(self, place: Place, reason: RecycleReason, error: NotEnoughMemory) -> None:
        """There is no room for two: the old one goes first, where it has no sessions; at the hard limit its sessions
        wait for the next."""
        if not self._handover.sessions_of(place):
            place.worker.renew()
            self._instruments.worker_recycled(place.worker.name, reason)
            _logger.info("worker %s is loaded anew, since it has no sessions (%s)", place.worker.name, reason)
            return
        if place.vitals.pressure == "hard" and place.vitals.bounds is not None:
            place.worker.kill(f"it reached its memory limit of {place.vitals.bounds.hard >> 20} MiB")
            self._not_before_ns = self._clock.now_ns() + round(PRESSED_AGAIN_S * 1e9)
            return
        _logger.warning("worker %s is not recycled (%s): %s", place.worker.name, reason, error)
        self._not_before_ns = self._clock.now_ns() + round(PRESSED_AGAIN_S * 1e9)

    async def _replace(self, place: Place, reason: RecycleReason) -> None:
        if not place.takes_sessions or place.worker.state != "ready":
            return
        await self._find_memory(place.model)
        fresh = await self._load(place.model, slot=place.slot)
        if not place.takes_sessions:  # its worker may have died meanwhile, or the daemon stops
            await self._roster.end(fresh)
            return
        if place is self._roster.active:
            self._roster.activate(fresh)
        else:
            fresh.role = place.role
        self._instruments.worker_recycled(place.worker.name, reason)
        _logger.info("worker %d takes over from worker %d (%s)", fresh.worker.pid, place.worker.pid, reason)
        self._handover.take_over(fresh, place, everybody=True, after_s=0.0)
        if reason == "memory":
            self._not_before_ns = self._clock.now_ns() + round(PRESSED_AGAIN_S * 1e9)

    async def stop(self) -> None:
        """Give up a recycling that is under way."""
        if self._recycling is not None:
            self._recycling.cancel()
            await asyncio.gather(self._recycling, return_exceptions=True)
