"""Finals, and what is counted of them."""

from __future__ import annotations

from collections import Counter

import pytest

from edge_asr.sinks.base import Spoken


def spoken(text: str = "go forward") -> Spoken:
    return Spoken(
        text, "s", 0, "wyoming", "starter-en", "en", 0.0, 1.0, (), None, None, "2026-01-02T03:04:05.678+00:00"
    )


class Counted(Counter[tuple[str, str]]):
    """Outcomes by sink."""

    def __call__(self, sink: str, outcome: str) -> None:
        self[sink, outcome] += 1


@pytest.fixture
def counted() -> Counted:
    return Counted()
