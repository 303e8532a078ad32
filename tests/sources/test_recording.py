"""The channels of a file one by one, whether it has a header or not."""

from __future__ import annotations

import io
from contextlib import closing

import numpy as np
import pytest
import soundfile

from edge_asr.errors import AudioUnreadable
from edge_asr.sources.pcm import PcmLayout
from edge_asr.sources.recording import open_each_channel, open_recording
from tests.sources.conftest import read_all

FRAMES = np.array([[0, 16384]] * 4, "<i2")


def wav() -> bytes:
    file = io.BytesIO()
    soundfile.write(file, FRAMES, 8000, format="WAV")
    return file.getvalue()


@pytest.mark.parametrize(("content", "layout"), [(wav(), None), (FRAMES.tobytes(), PcmLayout("s16le", 8000, 2))])
def test_each_channel_is_a_source_of_its_own(write, content: bytes, layout: PcmLayout | None) -> None:
    heard = []
    for name, source in open_each_channel(write("call", content), layout):
        with closing(source):
            heard.append((name, source.sample_rate_hz, read_all(source).tolist()))

    assert heard == [("left", 8000, [0.0] * 4), ("right", 8000, [0.5] * 4)]


@pytest.mark.parametrize("layout", [None, PcmLayout("s16le", 8000, 1)])
def test_it_is_called_by_the_name_that_its_user_gave_it(write, layout: PcmLayout | None) -> None:
    with pytest.raises(AudioUnreadable, match="standard input: the file is empty"):
        open_recording(write("spooled", b""), "mix", layout, name="standard input")
