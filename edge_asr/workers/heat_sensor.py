"""Reads how hot the machine is and what is held back for it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from edge_asr.resources.frequency import read_policies
from edge_asr.resources.thermal import hottest_celsius, slowing_celsius
from edge_asr.resources.throttling import read_throttling
from edge_asr.sessions.heat import Heat

DEFAULT_LIMIT_C = 80.0
"""Where the firmware of a Raspberry Pi lowers the clock, which its kernel does not know."""


class HeatSensor:
    """The cores of the workers.

    Args:
        cpus: Their numbers.
        limit_c: Temperature at which the machine slows down; 0 for what its sensors say.
        root: Where ``sys`` is.
    """

    def __init__(self, cpus: Collection[int], limit_c: float = 0.0, root: Path = Path("/")) -> None:
        self._cpus = frozenset(cpus)
        self._limit_c = limit_c or slowing_celsius(root) or DEFAULT_LIMIT_C
        self._root = root
        self._highest_khz: dict[int, int] = {}

    def read(self) -> Heat:
        """The state now; some small files."""
        throttling = read_throttling(self._root)
        return Heat(
            temperature_c=hottest_celsius(self._root),
            limit_c=self._limit_c,
            frequency_share=self._frequency_share(),
            throttling=throttling.now if throttling is not None else (),
        )

    def _frequency_share(self) -> float:
        """By the highest clock that was allowed since the start: an owner may have chosen a lower one for good."""
        share = 1.0
        for policy in read_policies(self._root):
            if policy.max_khz and policy.cpus & self._cpus:
                first = min(policy.cpus)
                self._highest_khz[first] = max(policy.max_khz, self._highest_khz.get(first, 0))
                share = min(share, policy.max_khz / self._highest_khz[first])
        return share
