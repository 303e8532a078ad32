"""Which channel of several is heard."""

from __future__ import annotations

import numpy as np
import pytest

from edge_asr.sources.channels import channel_name, select_channel

STEREO = np.array([[0.5, 0.25], [-0.5, 0.25]], np.float32)
MONO = np.array([[0.5], [-0.5]], np.float32)


@pytest.mark.parametrize(
    ("channel", "expected"),
    [("mix", [0.375, -0.125]), ("left", [0.5, -0.5]), ("right", [0.25, 0.25]), (0, [0.5, -0.5]), (1, [0.25, 0.25])],
)
def test_a_channel_of_stereo(channel, expected) -> None:
    assert select_channel(STEREO, channel).tolist() == expected


@pytest.mark.parametrize("channel", ["mix", "left", "right", 0, 3])
def test_every_choice_of_mono_is_its_only_channel(channel) -> None:
    assert select_channel(MONO, channel).tolist() == [0.5, -0.5]


def test_mixing_leaves_the_recording_as_it_is() -> None:
    frames = STEREO.copy()
    select_channel(frames, "mix")

    assert np.array_equal(frames, STEREO)


@pytest.mark.parametrize(
    ("index", "channels", "name"), [(0, 1, "mono"), (0, 2, "left"), (1, 2, "right"), (0, 6, "1"), (5, 6, "6")]
)
def test_channels_have_names(index, channels, name) -> None:
    assert channel_name(index, channels) == name
