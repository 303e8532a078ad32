from __future__ import annotations

import pytest

from edge_asr.workers.scorer import word_error_rate


async def test_errors_are_counted_per_word_of_all_references():
    rate = await word_error_rate(["go forward ten meters", "five five"], ["Go forward, 10 meters.", "five"])
    assert rate == pytest.approx(1 / 5)  # "five five" is 55, one word, to the normaliser
