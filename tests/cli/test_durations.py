"""Durations as people write them."""

import pytest

from edge_asr.cli.durations import parse_duration_s
from edge_asr.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), ("30 min", 1800), ("24h", 86_400), ("1d", 86_400), ("1.5H", 5400)],
)
def test_a_number_and_a_unit(text, seconds):
    assert parse_duration_s(text, "--soak") == seconds


@pytest.mark.parametrize("text", ["", "h", "0", "0h", "-1h", "1w", "1h30m", "1,5h", "nan"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ConfigurationError, match=r"--soak .* write e\.g\. 90s, 30m or 24h"):
        parse_duration_s(text, "--soak")
