from __future__ import annotations

from edge_asr.pipeline.energy import FRAME_S, QUIETEST_BACKGROUND_DBFS, Background


def heard(background: Background, level_dbfs: float, seconds: float) -> list[bool]:
    return [background.is_exceeded(level_dbfs) for _ in range(round(seconds / FRAME_S))]


def test_speech_over_a_quiet_room_is_sound_from_its_first_frame() -> None:
    background = Background(6)
    assert not any(heard(background, -70, 1.0))
    assert all(heard(background, -30, 2.0))


def test_a_fan_is_sound_until_the_background_has_risen_to_it() -> None:
    sounds = heard(Background(6), -45, 12.0)
    assert sounds == sorted(sounds, reverse=True)
    assert round(sum(sounds) * FRAME_S, 1) == 8.0  # 24 of 30 dB at 3 dB a second


def test_the_background_falls_at_once() -> None:
    background = Background(6)
    heard(background, -40, 20.0)
    background.is_exceeded(-60)
    assert background.level_dbfs == -60
    assert background.is_exceeded(-53)


def test_speech_with_its_dips_never_becomes_the_background() -> None:
    background = Background(6)
    heard(background, -45, 15.0)
    syllable = [-25.0] * 10 + [-45.0]
    sounds = [background.is_exceeded(level) for level in syllable * 200]
    assert sum(sounds) == 10 * 200


def test_the_noise_of_rounding_is_no_sound() -> None:
    background = Background(6)
    assert not any(heard(background, -98, 1.0) + heard(background, -80, 1.0))
    assert background.level_dbfs == QUIETEST_BACKGROUND_DBFS
