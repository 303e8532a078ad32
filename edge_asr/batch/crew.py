"""What the foreman asks of a crew, wherever its workers are."""

from __future__ import annotations

from typing import Protocol

from edge_asr.batch.messages import Outcome, Task


class Crew(Protocol):
    """Workers that hear recordings. Used by one thread."""

    @property
    def description(self) -> str:
        """Who works, for people."""
        ...

    def room(self) -> int:
        """How many more tasks are taken now; at least one when nobody has any."""
        ...

    def give(self, task: Task) -> None:
        """Let somebody hear it; asked only while there is room."""
        ...

    def next(self, timeout_s: float) -> Outcome | None:
        """Something that became of a task; ``None`` when nothing has for so long.

        Raises:
            EdgeAsrError: Nobody can go on.
        """
        ...

    def close(self) -> None:
        """Let everybody go, whatever they are doing."""
        ...
