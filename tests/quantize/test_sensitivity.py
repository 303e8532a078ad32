"""What was measured of nodes is read back after an interruption."""

from __future__ import annotations

import math
from pathlib import Path

from edge_asr.quantize.journal import Journal
from edge_asr.quantize.sensitivity import Heard


def test_a_node_that_ruins_everything_is_remembered(tmp_path: Path) -> None:
    Journal(tmp_path / "harms.jsonl", Heard).enter("encoder first int8", Heard(math.inf, 1.0, math.nan, 8))
    found = Journal(tmp_path / "harms.jsonl", Heard).find("encoder first int8")
    assert found is not None
    assert math.isinf(found.divergence.nats)
    assert found.divergence.flips == 1.0
