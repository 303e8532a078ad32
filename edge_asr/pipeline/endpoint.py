"""When a segment ends: our own rules, the same for every engine, on times of audio and never of the wall clock.

An engine's endpoint detection is off by default, missing in some engines and broken in others; so the session looks
at the hypothesis itself. The first rule that holds wins and its name travels in ``Final.reason``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge_asr.settings import EndpointSettings

EndpointReason = Literal["silence", "max_length", "no_new_token"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The segment is over."""

    reason: EndpointReason


@dataclass(frozen=True, slots=True)
class SegmentProgress:
    """What the rules look at; all positions in seconds of the stream's audio."""

    segment_start_s: float
    """Where the last segment was closed."""
    decoded_s: float
    """Up to where audio is decoded."""
    last_token_s: float | None
    """Start of the newest token; ``None`` while nothing was recognised."""
    last_change_s: float
    """``decoded_s`` when the text last changed."""
    is_complete: bool = False
    """The engine can take no more audio into this segment."""


def find_endpoint(progress: SegmentProgress, settings: EndpointSettings) -> Endpoint | None:
    """Apply the rules to one segment; ``None`` while it goes on.

    A segment without text that ends leaves no final behind: the caller starts over.
    """
    length_ms = (progress.decoded_s - progress.segment_start_s) * 1000
    if progress.is_complete or length_ms >= settings.max_segment_ms:
        return Endpoint("max_length")
    if progress.last_token_s is None:
        return Endpoint("silence") if length_ms >= settings.silence_without_text_ms else None
    if (progress.decoded_s - progress.last_token_s) * 1000 >= settings.silence_ms:
        return Endpoint("silence")
    if (progress.decoded_s - progress.last_change_s) * 1000 >= settings.no_new_token_ms:
        return Endpoint("no_new_token")
    return None
