"""What one live stream takes of a network, with the headers of every layer down to the Ethernet wire."""

from __future__ import annotations

import math
from dataclasses import dataclass

_ETHERNET_BYTES = 38
"""Preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3)."""
_IP_BYTES = 20
"""IPv4 without options (RFC 791)."""
_TCP_BYTES = 32
"""With timestamps (RFC 9293, RFC 7323)."""
_UDP_RTP_BYTES = 8 + 12
"""RFC 768, RFC 3550."""
_SEGMENT_BYTES = 1500 - _IP_BYTES - _TCP_BYTES
"""Payload of a full TCP segment on Ethernet."""

_RTP_PACKET_MS = 20


@dataclass(frozen=True, slots=True)
class StreamBandwidth:
    """One way of sending speech, towards the board."""

    encoding: str
    payload_bps: float
    """Bits of audio per second."""
    wire_bps: float
    """Bits per second with all headers."""
    is_understood: bool
    """Whether the daemon takes it as it is; otherwise something in between must decode it."""


def stream_bandwidths(piece_ms: int) -> tuple[StreamBandwidth, ...]:
    """The usual ways, the widest first.

    Args:
        piece_ms: Audio per websocket message; RTP carries 20 ms per packet.
    """
    return (
        _websocket("16-bit, 16 kHz, websocket", 256_000, piece_ms),
        _websocket("16-bit, 8 kHz, websocket", 128_000, piece_ms),
        _websocket("mu-law, 8 kHz, websocket", 64_000, piece_ms),
        _rtp("Opus 24 kb/s, 16 kHz, RTP", 24_000),
        _rtp("Opus 12 kb/s, 8 kHz, RTP", 12_000),
    )


def _websocket(encoding: str, payload_bps: float, piece_ms: int) -> StreamBandwidth:
    payload = payload_bps / 8 * piece_ms / 1000
    message = payload + _frame_header_bytes(payload)
    segments = math.ceil(message / _SEGMENT_BYTES)
    wire = message + segments * (_TCP_BYTES + _IP_BYTES + _ETHERNET_BYTES)
    return StreamBandwidth(encoding, payload_bps, wire * 8 * 1000 / piece_ms, is_understood=True)


def _frame_header_bytes(payload: float) -> int:
    """RFC 6455, section 5.2, with the mask that a client must use."""
    if payload < 126:
        return 6
    return 8 if payload < 2**16 else 14


def _rtp(encoding: str, payload_bps: float) -> StreamBandwidth:
    headers_bps = (_UDP_RTP_BYTES + _IP_BYTES + _ETHERNET_BYTES) * 8 * 1000 / _RTP_PACKET_MS
    return StreamBandwidth(encoding, payload_bps, payload_bps + headers_bps, is_understood=False)
