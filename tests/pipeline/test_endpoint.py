from __future__ import annotations

import pytest

from edge_asr.pipeline.endpoint import Endpoint, SegmentProgress, find_endpoint
from edge_asr.settings import EndpointSettings

RULES = EndpointSettings(silence_ms=1000, silence_without_text_ms=2000, no_new_token_ms=5000, max_segment_ms=20_000)


def progress(decoded_s: float, last_token_s: float | None, last_change_s: float, **more: bool) -> SegmentProgress:
    return SegmentProgress(10.0, 10.0 + decoded_s, last_token_s and 10.0 + last_token_s, 10.0 + last_change_s, **more)


@pytest.mark.parametrize(
    ("decoded_s", "last_token_s", "last_change_s", "expected"),
    [
        (1.5, 0.6, 0.7, None),
        (1.6, 0.6, 0.7, "silence"),
        (1.9, None, 0.0, None),
        (2.0, None, 0.0, "silence"),
        (6.0, 5.5, 1.0, "no_new_token"),
        (6.0, 5.5, 1.1, None),
        (20.0, 19.9, 19.9, "max_length"),
        (20.0, None, 0.0, "max_length"),
    ],
)
def test_the_first_rule_that_holds_closes_the_segment(
    decoded_s: float, last_token_s: float | None, last_change_s: float, expected: str | None
) -> None:
    found = find_endpoint(progress(decoded_s, last_token_s, last_change_s), RULES)
    assert (found and found.reason) == expected


def test_an_engine_that_can_take_no_more_closes_the_segment() -> None:
    assert find_endpoint(progress(1.0, 0.9, 0.9, is_complete=True), RULES) == Endpoint("max_length")
