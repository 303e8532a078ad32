"""When the next decoding step of a stream is to be done. Pure."""

from __future__ import annotations

END_SHARE = 0.5
"""Of a period, after which the end of a stream is due: before most of what has just come, since somebody waits for the
final, and after what has waited for longer. Where many streams end at one moment the others are not late for it."""


class Deadline:
    """Follows the steps of one stream.

    A step is due one period after its audio was complete, which is when the audio of the next one is. Audio that came
    ahead of its time, as from a file, is due at the pace of speech: one period after the step before.

    Args:
        period_ns: Audio per step; nanoseconds.
    """

    def __init__(self, period_ns: int) -> None:
        self._period_ns = period_ns
        self.ready_ns = 0
        """When the audio of the step was complete."""
        self.due_ns = 0

    def set(self, arrived_ns: int) -> None:
        """The audio of the next step is complete; its last sample arrived then."""
        self.ready_ns = arrived_ns
        self.due_ns = max(arrived_ns, self.due_ns) + self._period_ns

    def set_end(self, arrived_ns: int) -> None:
        """Nothing more will come after what arrived last, and somebody waits."""
        self.ready_ns = arrived_ns
        self.due_ns = arrived_ns + round(END_SHARE * self._period_ns)

    def catch_up(self) -> None:
        """The stream has decoded everything: what comes now is live, whatever pace it had before."""
        self.due_ns = 0
