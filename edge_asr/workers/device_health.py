"""When an NPU is given up: a worker on it ends, and soon its successor too. Pure: told of deaths and times."""

from __future__ import annotations

from edge_asr.engines.provider_table import CPU

SOON_S = 600.0
"""Between two deaths; a device that fails less often than that is restarted each time."""


class DeviceHealth:
    """One place in the pool."""

    def __init__(self) -> None:
        self._last_death_s = float("-inf")
        self.verdict = ""
        """Why the device is given up, a clause; empty while it is trusted."""

    def note_death(self, provider: str, reason: str, now_s: float) -> None:
        """A worker has ended by itself.

        Args:
            provider: What it ran on.
            reason: Why, a clause.
            now_s: Monotonic seconds.
        """
        if not runs_on_device(provider):
            return
        if now_s - self._last_death_s < SOON_S:
            self.verdict = f"two workers on it ended within {SOON_S / 60:.0f} minutes, the last one: {reason}"
        self._last_death_s = now_s


def runs_on_device(provider: str) -> bool:
    """Whether a worker's death may be its device's fault and not that of the audio."""
    return not provider.startswith((CPU, "ort:CPU"))
