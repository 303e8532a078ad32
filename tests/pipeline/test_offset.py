from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.audio import Float32Array
from edge_asr.pipeline.offset import HARMLESS, OffsetRemover, excess

RATE_HZ = 16_000


def a_voice(seconds: float, loudness: float = 0.05) -> Float32Array:
    times = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (loudness * np.sin(2 * np.pi * 200 * times)).astype(np.float32)


@pytest.mark.parametrize("offset", [0.6, -0.3, 0.01])
def test_an_offset_is_gone_from_the_first_sample_on(offset: float) -> None:
    voice = a_voice(1.0)
    cleaned = OffsetRemover(RATE_HZ).remove(voice + np.float32(offset))
    np.testing.assert_allclose(cleaned, voice, atol=HARMLESS + 1e-6)


def test_audio_without_an_offset_passes_as_it_is() -> None:
    remover, voice = OffsetRemover(RATE_HZ), a_voice(1.0)
    remover.remove(voice)
    assert remover.remove(voice) is voice


def test_an_offset_that_begins_later_is_gone_after_some_seconds() -> None:
    remover = OffsetRemover(RATE_HZ)
    remover.remove(a_voice(10.0))
    cleaned = remover.remove(a_voice(6.0) + np.float32(0.4))
    assert abs(float(cleaned[-RATE_HZ:].mean())) < 0.005  # 0.4 exp(-5) is 0.003


@given(st.lists(st.integers(0, 900), max_size=12))
def test_cuts_make_no_difference(cuts: list[int]) -> None:
    audio = a_voice(0.5) + np.linspace(0.1, 0.3, RATE_HZ // 2, dtype=np.float32)
    whole = OffsetRemover(RATE_HZ).remove(audio)
    remover, pieces, begin = OffsetRemover(RATE_HZ), [], 0
    for cut in cuts:
        pieces.append(remover.remove(audio[begin : begin + cut]))
        begin += cut
    pieces.append(remover.remove(audio[begin:]))
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=1e-6)


def test_audio_shorter_than_a_frame_comes_out_at_the_end() -> None:
    remover = OffsetRemover(RATE_HZ)
    assert not len(remover.remove(a_voice(0.01)))
    assert remover.flush().tolist() == a_voice(0.01).tolist()
    assert not len(remover.flush())


def test_what_is_harmless_stays() -> None:
    assert (excess(0.0004), excess(-HARMLESS)) == (0, 0)
    assert excess(-0.5) == pytest.approx(-0.5 + HARMLESS)


@pytest.mark.parametrize("cut", [320, 6_400, 20_000, 20_100])
def test_another_one_goes_on_where_this_one_was(cut: int) -> None:
    audio = a_voice(2.0) + np.linspace(0.1, 0.3, 2 * RATE_HZ, dtype=np.float32)
    first = OffsetRemover(RATE_HZ)
    whole = first.remove(audio)
    second = OffsetRemover(RATE_HZ, cut, first.known_at(cut))
    # Of a frame that was begun the other one does not know the beginning.
    np.testing.assert_allclose(second.remove(audio[cut:]), whole[cut:], atol=1e-6 if cut % 320 == 0 else 2e-3)


def test_the_other_one_can_be_asked_as_well() -> None:
    audio = a_voice(2.0) + np.linspace(0.1, 0.3, 2 * RATE_HZ, dtype=np.float32)
    first = OffsetRemover(RATE_HZ)
    whole = first.remove(audio)
    second = OffsetRemover(RATE_HZ, 6_400, first.known_at(6_400))
    second.remove(audio[6_400:])
    third = OffsetRemover(RATE_HZ, 19_200, second.known_at(19_200))
    np.testing.assert_allclose(third.remove(audio[19_200:]), whole[19_200:], atol=1e-6)


def test_within_the_first_frame_nothing_is_known_yet() -> None:
    remover = OffsetRemover(RATE_HZ)
    remover.remove(a_voice(1.0))
    assert remover.known_at(319) is None
