"""The rate of audio by the pace at which it comes."""

from __future__ import annotations

import pytest

from edge_asr.requests import SessionOptions
from edge_asr.servers.pace import PaceWatch, rate_notice


def verdicts(paces: list[float], *, rate: int = 16_000, piece_s: float = 0.1) -> list[int]:
    """What is said while so many seconds of audio come in each second, in even pieces."""
    watch = PaceWatch(SessionOptions(sample_rate_hz=rate))
    said = []
    now_s = 100.0
    for pace in paces:
        for _ in range(round(1 / piece_s)):
            found = watch.take(round(pace * piece_s * 2 * rate), now_s)
            said += [found] if found is not None else []
            now_s += piece_s
    return said


def test_a_microphone_of_its_rate_is_not_suspected() -> None:
    assert verdicts([1.0] * 20) == []


@pytest.mark.parametrize(("pace", "rate"), [(3.0, 48_000), (2.75625, 44_100), (0.5, 8_000), (1.5, 24_000)])
def test_a_microphone_of_another_rate_is_suspected_once(pace: float, rate: int) -> None:
    assert verdicts([pace] * 20) == [rate]


def test_a_client_that_declares_48_khz_and_sends_16_is_suspected() -> None:
    assert verdicts([1 / 3] * 12, rate=48_000) == [16_000]


def test_a_clock_that_is_a_little_off_is_not_suspected() -> None:
    assert verdicts([1.004] * 12) == []


def test_an_uneven_sender_is_no_microphone() -> None:
    assert verdicts([1.0, 5.0] * 6) == []


def test_a_pace_between_the_rates_is_a_file() -> None:
    assert verdicts([2.5] * 12) == []


def test_pieces_that_do_not_end_with_the_second_do_not_hide_it() -> None:
    assert verdicts([3.0] * 20, piece_s=0.128) == [48_000]


def test_one_who_had_to_wait_is_not_judged() -> None:
    watch = PaceWatch(SessionOptions())
    watch.disturb()
    assert [watch.take(9600, tenth / 10) for tenth in range(200)] == [None] * 200


def test_the_notice_names_both_rates() -> None:
    notice = rate_notice("s", 16_000, 48_000)
    assert notice.code == "rate_suspicious"
    assert "declared to be at 16000 Hz and comes as fast as audio at 48000 Hz would" in notice.message
