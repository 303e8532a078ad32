"""What is measured, by hand."""

from __future__ import annotations

import json

from tools.command_pauses import longest, templates


def test_the_longest_come_first_in_milliseconds() -> None:
    assert longest([0.001, 0.0203, 0.004, 0.002, 0.003, 0.0005]) == [20.3, 4.0, 3.0, 2.0, 1.0]


def test_the_set_has_the_entities_and_as_many_names_as_were_asked_for() -> None:
    values = [len(json.loads(templates(names))["lists"]["name"]["values"]) for names in (0, 3)]
    assert values[1] == values[0] + 3
