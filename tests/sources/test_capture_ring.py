"""The queue between the sound card's thread and ours."""

from __future__ import annotations

from edge_asr.sources.capture_ring import Block, CaptureRing


def test_blocks_come_out_in_order() -> None:
    ring = CaptureRing(100)
    ring.write(b"one", 10, 1, has_overrun=False)
    ring.write(b"two", 20, 2, has_overrun=True)
    assert ring.read(0) == Block(b"one", 10, 1, has_overrun=False, dropped_frames=0)
    assert ring.read(0) == Block(b"two", 20, 2, has_overrun=True, dropped_frames=0)


def test_an_empty_ring_gives_nothing() -> None:
    assert CaptureRing(100).read(0) is None


def test_what_does_not_fit_is_dropped_and_counted_before_what_follows() -> None:
    ring = CaptureRing(100)
    ring.write(b"held", 100, 1, has_overrun=False)
    ring.write(b"dropped", 30, 2, has_overrun=False)
    ring.write(b"dropped", 20, 3, has_overrun=False)
    ring.read(0)
    ring.write(b"after", 10, 4, has_overrun=False)
    assert ring.read(0) == Block(b"after", 10, 4, has_overrun=False, dropped_frames=50)
