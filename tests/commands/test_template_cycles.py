"""What was parsed on the way to a network is gone with the last who needs it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hassil.expression import Expression

from edge_asr.commands.templates import read_templates
from edge_asr.errors import ConfigurationError
from tests.commands.command_cases import LIGHTS

NESTED = """
intents:
  Lamp:
    data:
      - sentences: ["(turn|switch) on [the] <thing>", "{place} [(light|lamp)] on"]
        expansion_rules: {thing: "(big|small) lamp[s]"}
        lists: {place: {values: ["(living|sitting) room", hall]}}
expansion_rules: {unused: "[some] (one|other)"}
lists: {unused: {values: ["a[n] (b|c)"]}}
"""
UNKNOWN_RULE = """
intents: {Lamp: {data: [{sentences: ["(turn|switch) on <nothing>"]}]}}
"""


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def parsed() -> list[object]:
    """What of hassil's is still there."""
    return [each for each in gc.get_objects() if isinstance(each, Expression)]


@pytest.mark.parametrize("templates", [LIGHTS, NESTED])
def test_nothing_stays_of_what_was_read(templates: str) -> None:
    assert read_templates({"x.yaml": templates}).sentences > 0
    assert parsed() == []


def test_nothing_stays_of_what_could_not_be_read() -> None:
    was_refused = False
    try:
        read_templates({"x.yaml": UNKNOWN_RULE})
    except ConfigurationError:  # which pytest.raises would keep, and with it all that was read
        was_refused = True
    assert was_refused
    assert parsed() == []
