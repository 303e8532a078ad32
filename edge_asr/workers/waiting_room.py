"""Sessions wait here until the commands they brought are read, which takes seconds for a large set on a small board,
and until what their texts are written with is loaded.

A thread of its own reads: while the socket waited for it, every other session did, and the front took the worker to
hang. What comes for a session meanwhile is carried out behind its opening, in order.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from edge_asr.requests import SessionOptions

Message = TypeVar("Message")

_log = logging.getLogger(__name__)


class WaitingRoom(Generic[Message]):
    """Messages of sessions that are not open yet; the thread is started with the first of them.

    Args:
        prepare: Reads and loads what a session needs; called on this object's thread.
        carry_out: Takes the messages of a session once that is done; must not block.
        on_death: Called when the thread ends because of a fault of the program.
    """

    def __init__(
        self,
        prepare: Callable[[SessionOptions], None],
        carry_out: Callable[[Message], None],
        on_death: Callable[[BaseException], None],
    ) -> None:
        self._prepare = prepare
        self._carry_out = carry_out
        self._on_death = on_death
        self._lock = threading.Lock()
        self._kept: dict[str, list[Message]] = {}
        self._to_read: SimpleQueue[tuple[str, SessionOptions] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def enter(self, session_id: str, options: SessionOptions, opening: Message) -> None:
        """Keep a session waiting until what it needs is there."""
        with self._lock:
            self._kept[session_id] = [opening]
        self._to_read.put((session_id, options))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="preparing", daemon=True)
            self._thread.start()

    def keep(self, session_id: str, message: Message) -> bool:
        """Keep a message if its session waits; ``False`` when it does not."""
        with self._lock:
            kept = self._kept.get(session_id)
            if kept is None:
                return False
            kept.append(message)
            return True

    def leave(self, session_id: str) -> bool:
        """Forget a session that waits; ``False`` when it does not."""
        with self._lock:
            return self._kept.pop(session_id, None) is not None

    def stop(self) -> None:
        """Let in whoever waits, then end the thread; waits for it."""
        self._to_read.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while (entry := self._to_read.get()) is not None:
                self._let_in(*entry)
        except BaseException as error:  # noqa: BLE001  the top of a thread: whoever watches must hear of it
            _log.exception("the thread that reads and loads ended")
            self._on_death(error)

    def _let_in(self, session_id: str, options: SessionOptions) -> None:
        if session_id not in self._kept:
            return  # the client has left: nobody needs what it brought
        self._prepare(options)
        with self._lock:  # held until all are carried out: what comes now belongs behind them
            for message in self._kept.pop(session_id, ()):
                self._carry_out(message)
