"""What a worker hears of a file, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edge_asr.batch.hearing import open_channels
from edge_asr.errors import AudioUnreadable


@pytest.mark.parametrize("channel", ["mix", "each"])
def test_what_waits_for_a_writer_or_never_ends_is_refused(tmp_path: Path, channel) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    for path in (tmp_path / "pipe.wav", Path("/dev/zero")):
        with pytest.raises(AudioUnreadable, match=rf"{path}: is a pipe or a device, and a batch hears files only"):
            next(open_channels(path, channel))
