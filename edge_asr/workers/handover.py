"""Sessions move from one worker to another, between two segments, and the place they leave is ended. Asyncio.

A session moves when what it said so far is settled: at once when nothing of it is open, else with its next final. One
that settles nothing for longer than the longest segment is moved all the same; its open segment is said again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection

from edge_asr.languages import speaks
from edge_asr.workers.place import Place
from edge_asr.workers.roster import Roster
from edge_asr.workers.session import PoolSession

SLACK_S = 5.0
"""Beyond the longest segment, before a session is moved in the middle of one."""

_logger = logging.getLogger(__name__)


class Handover:
    """Moves sessions.

    Args:
        roster: The places.
        sessions: All that are open.
    """

    def __init__(self, roster: Roster, sessions: Callable[[], Collection[PoolSession]]) -> None:
        self._roster = roster
        self._sessions = sessions
        self._timers: dict[Place, asyncio.TimerHandle] = {}
        self._endings: set[asyncio.Task[None]] = set()

    def sessions_of(self, place: Place) -> list[PoolSession]:
        """Those that its worker has."""
        return [session for session in self._sessions() if session.worker is place.worker]

    def take_over(self, place: Place, leaving: Place, *, everybody: bool, after_s: float) -> None:
        """Give the sessions of one place to another one.

        Args:
            place: Where they go; its worker is ready.
            leaving: Where they are; ended when nobody is left.
            everybody: Also those that ask for its model by name.
            after_s: How long they may stay where they are.
        """
        self._stay(place)
        leaving.successor = place
        if everybody:
            leaving.role = "leaving"
        self._end_if_empty(leaving)
        self._later(leaving, after_s, self._begin)

    def note_settled(self, session: PoolSession, place: Place) -> None:
        """The session is between two segments."""
        if place.is_handing_over and not session.is_finishing:
            self._move(session, place)

    def note_end(self, place: Place) -> None:
        """A session of the place is over."""
        self._end_if_empty(place)

    def move_the_orphans(self, place: Place) -> bool:
        """The worker of the place has ended: whether its sessions went to its successor, and it is ended."""
        if place.role != "leaving" or _heir(place) is None:
            return False
        for session in self.sessions_of(place):
            self._move(session, place)
        return True

    async def stop(self) -> None:
        """Move nobody any more, and wait for places that are being ended."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        await asyncio.gather(*self._endings, return_exceptions=True)

    def _begin(self, place: Place) -> None:
        place.is_handing_over = True
        for session in self._movable(place):
            if session.is_settled:
                self._move(session, place)
        longest_s = place.model.settings.endpoint.max_segment_ms / 1000
        self._later(place, longest_s + SLACK_S, self._insist)

    def _insist(self, place: Place) -> None:
        for session in self._movable(place):
            self._move(session, place)
        if self._movable(place):
            self._later(place, SLACK_S, self._insist)  # the successor is not ready

    def _movable(self, place: Place) -> list[PoolSession]:
        return [session for session in self.sessions_of(place) if self._may_leave(session, place)]

    @staticmethod
    def _may_leave(session: PoolSession, place: Place) -> bool:
        if place.role == "leaving":
            return True
        if session.wanted_model == place.model.name:
            return False
        heir = _heir(place)
        return heir is None or speaks(heir.model.manifest.languages, session.language)

    def _move(self, session: PoolSession, place: Place) -> None:
        heir = _heir(place)
        if heir is None or not self._may_leave(session, place):
            return
        session.move_to(heir.worker)
        heir.opened += 1
        if heir.model.name != place.model.name:
            session.tell_model(place.model.name, heir.model.name)
        self._end_if_empty(place)

    def _end_if_empty(self, place: Place) -> None:
        if place.successor is None or self.sessions_of(place):
            return
        if timer := self._timers.pop(place, None):
            timer.cancel()
        ending = asyncio.create_task(self._roster.end(place), name=f"ending worker {place.worker.name}")
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    def _stay(self, place: Place) -> None:
        """Nobody has to leave this place any more."""
        place.successor, place.is_handing_over = None, False
        if timer := self._timers.pop(place, None):
            timer.cancel()

    def _later(self, place: Place, delay_s: float, do: Callable[[Place], None]) -> None:
        if timer := self._timers.pop(place, None):
            timer.cancel()
        if self.sessions_of(place):
            self._timers[place] = asyncio.get_running_loop().call_later(delay_s, do, place)


def _heir(place: Place) -> Place | None:
    """The last one in the line of those that take over, if it can take sessions now."""
    heir = place
    while heir.successor is not None:
        heir = heir.successor
    return heir if heir is not place and heir.worker.state == "ready" else None
