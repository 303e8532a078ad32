"""Bits per second on the wire."""

from __future__ import annotations

import pytest

from edge_asr.bench.bandwidth import stream_bandwidths


def test_a_websocket_message_of_wide_band_speech_takes_three_segments() -> None:
    first = stream_bandwidths(100)[0]
    assert first.payload_bps == 16_000 * 16
    # 3200 bytes of audio, 8 of frame header, 3 x (32 TCP + 20 IP + 38 Ethernet), ten times a second
    assert first.wire_bps == (3200 + 8 + 3 * 90) * 8 * 10


def test_a_packet_of_opus_carries_more_headers_than_speech() -> None:
    opus = stream_bandwidths(100)[-1]
    # 30 bytes of Opus, 20 RTP and UDP, 20 IP, 38 Ethernet, fifty times a second
    assert opus.wire_bps == (30 + 78) * 8 * 50
    assert not opus.is_understood


@pytest.mark.parametrize("piece_ms", [20, 100, 1000])
def test_headers_come_on_top(piece_ms: int) -> None:
    assert all(bandwidth.wire_bps > bandwidth.payload_bps for bandwidth in stream_bandwidths(piece_ms))


def test_longer_pieces_carry_fewer_headers() -> None:
    short, long = (stream_bandwidths(piece_ms)[0].wire_bps for piece_ms in (20, 200))
    assert long < short
