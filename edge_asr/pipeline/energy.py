"""Is there any sound? Loudness against a background that is followed; costs next to nothing and knows no language.

The background falls to a quieter frame at once and rises slowly. Speech has dips of some ten milliseconds several times
a second, so it does not become its own background, while a fan that is switched on does after some seconds. Until then
everything counts as sound, which costs work and loses nothing.
"""

from __future__ import annotations

FRAME_S = 0.02
"""Audio of one decision: short enough to see the dips between syllables."""

RISE_DB_PER_S = 3.0

QUIETEST_BACKGROUND_DBFS = -75.0
"""No background is taken to be quieter, so that the rounding noise of 16 bits (about -98) is no sound."""


class Background:
    """Follows one stream.

    Args:
        margin_db: Frames that are louder than the background by so much are sound.
    """

    def __init__(self, margin_db: float) -> None:
        self._margin_db = margin_db
        self.level_dbfs = QUIETEST_BACKGROUND_DBFS

    @property
    def loudest_quiet_dbfs(self) -> float:
        """Frames up to here are no sound, at the background as it is."""
        return self.level_dbfs + self._margin_db

    def is_exceeded(self, level_dbfs: float) -> bool:
        """Whether the next frame is sound.

        Args:
            level_dbfs: Of a frame of :data:`FRAME_S`, see :func:`edge_asr.engines.samples.window_levels_dbfs`.
        """
        risen = self.level_dbfs + RISE_DB_PER_S * FRAME_S
        self.level_dbfs = max(QUIETEST_BACKGROUND_DBFS, min(level_dbfs, risen))
        return level_dbfs > self.loudest_quiet_dbfs
