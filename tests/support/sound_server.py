"""A sound card made of air, for tests; they are skipped, and say so, where it cannot be had."""

from __future__ import annotations

import pytest

from tools.sound_server import DEVICE, SoundServer, missing, sound_server

__all__ = ["DEVICE", "SoundServer", "needs_sound_server", "sound_server"]

needs_sound_server = pytest.mark.skipif(missing() != "", reason=f"not installed: {missing()}")
