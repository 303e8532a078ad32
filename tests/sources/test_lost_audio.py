"""How much a sound card lost, worked out from when its blocks came."""

from __future__ import annotations

import pytest

from edge_asr.sources.lost_audio import LostAudio

RATE_HZ = 16_000
BLOCK = 800  # 50 ms


class Card:
    """Delivers 50 ms blocks on time, plus what is said otherwise."""

    def __init__(self) -> None:
        self.lost = LostAudio(RATE_HZ)
        self.now_s = 0.0

    def deliver(self, blocks: int = 1, *, late_s: float = 0.0, has_overrun: bool = False, dropped: int = 0) -> int:
        """So many blocks; all that is said to be lost."""
        total = 0
        for _ in range(blocks):
            self.now_s += BLOCK / RATE_HZ
            captured_ns = round((self.now_s + late_s) * 1e9)
            total += self.lost.before(captured_ns, BLOCK, has_overrun=has_overrun, dropped_frames=dropped)
        return total


def test_a_steady_card_lost_nothing() -> None:
    assert Card().deliver(1000) == 0


@pytest.mark.parametrize("late_s", [0.02, 0.3])
def test_blocks_that_come_late_now_and_then_lost_nothing(late_s: float) -> None:
    card = Card()
    assert sum(card.deliver(late_s=late_s * (number % 7 == 3)) for number in range(400)) == 0


def test_an_announced_loss_has_the_length_of_the_hole() -> None:
    card = Card()
    card.deliver(100)
    card.now_s += 0.35
    assert card.deliver(has_overrun=True) == round(0.35 * RATE_HZ)
    assert card.deliver(100) == 0


def test_a_loss_that_nobody_announced_is_found_once_blocks_stay_late() -> None:
    card = Card()
    card.deliver(100)
    card.now_s += 0.5
    assert card.deliver(100) == round(0.5 * RATE_HZ)


def test_what_was_held_back_and_then_comes_in_a_burst_is_not_lost() -> None:
    card = Card()
    card.deliver(100)
    total = 0
    for number in range(30):  # after 1.5 s without a block, those of that time within 0.03 s
        total += card.deliver(late_s=1.5 - 0.05 * number)
    assert total + card.deliver(200) == 0


def test_a_card_whose_clock_is_slow_lost_nothing() -> None:
    card = Card()
    total = 0
    for _ in range(20_000):  # 17 minutes, 200 parts per million: 0.2 s in all
        card.now_s += BLOCK / RATE_HZ * 200e-6
        total += card.deliver()
    assert total == 0


def test_what_the_queue_dropped_is_counted_once() -> None:
    card = Card()
    card.deliver(100)
    card.now_s += 0.2
    assert card.deliver(dropped=3200) == 3200
    assert card.deliver(100) == 0
