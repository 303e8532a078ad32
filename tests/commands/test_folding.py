from __future__ import annotations

import pytest

from edge_asr.commands.folding import fold, fold_template


@pytest.mark.parametrize(
    ("text", "folded"), [("Café", "cafe"), ("I\u2019d", "i'd"), ("Straße", "strasse"), ("が", "が"), ("20.5", "20.5")]
)
def test_case_and_accents_are_not_heard(text, folded):
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Dr. Who's living-room", "dr who's living room"), (" to 20.5, then ", " to 20.5 then "), ("a  b", "a b")],
)
def test_marks_and_hyphens_of_templates_are_not_heard(text, folded):
    assert fold_template(text) == folded
