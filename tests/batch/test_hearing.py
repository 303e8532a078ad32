"""What a worker hears of a file, and what it refuses."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from edge_asr.batch.hearing import open_channels
from edge_asr.errors import AudioUnreadable
from edge_asr.sources.pcm import PcmLayout


@pytest.mark.parametrize("channel", ["mix", "each"])
def test_what_waits_for_a_writer_or_never_ends_is_refused(tmp_path: Path, channel) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    for path in (tmp_path / "pipe.wav", Path("/dev/zero")):
        with pytest.raises(AudioUnreadable, match=rf"{path}: is a pipe or a device, and a batch hears files only"):
            next(open_channels(path, channel))


def test_samples_without_a_header_are_read_as_they_were_said_to_be_written(tmp_path: Path) -> None:
    path = tmp_path / "call.pcm"
    path.write_bytes(np.array([[0, 16384], [0, 16384]], "<i2").tobytes())
    layout = PcmLayout("s16le", 8000, 2)

    heard = []
    for name, source in open_channels(path, "each", layout):
        with closing(source):
            heard.append((name, source.sample_rate_hz, [chunk.samples.tolist() for chunk in source]))

    assert heard == [("left", 8000, [[0.0, 0.0]]), ("right", 8000, [[0.5, 0.5]])]
