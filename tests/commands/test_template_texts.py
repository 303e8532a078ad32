from __future__ import annotations

import pytest

from edge_asr.commands.templates import read_templates
from edge_asr.errors import ConfigurationError

GO = "intents: {Go: {data: [{sentences: ['go {x}']}]}}\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (GO + "lists: {x: {values: ['a', on]}}", "lists.x.values: true"),
        (GO + "lists: {x: {values: [{in: off, out: a}]}}", "lists.x.values: false"),
        (GO + "lists: {x: {values: [5]}}", "lists.x.values: 5"),
        (GO + "lists: {x: {values: [a]}, no: {values: [a]}}", "lists: false"),
        (GO + "lists: {x: {values: [a]}}\nskip_words: [no]", "skip_words: false"),
        ("intents: {Go: {data: [{sentences: ['go <r>']}]}}\nexpansion_rules: {r: yes}", "expansion_rules.r: true"),
        ("intents: {Go: {data: [{sentences: [on]}]}}", "sentences of Go: true"),
        ("intents: {on: {data: [{sentences: [go]}]}}", "intents: true"),
        ("intents: {Go: {data: [{sentences: ['go {x}'], lists: {x: {values: [on]}}}]}}", "lists.x.values: true"),
    ],
)
def test_what_yaml_takes_for_something_else_is_told_with_its_place(text: str, place: str) -> None:
    with pytest.raises(ConfigurationError, match=f"f.yaml: {place} stands where a text is wanted; put it in quotes"):
        read_templates({"f.yaml": text})


def test_what_a_value_stands_for_may_be_anything() -> None:
    assert read_templates({"f.yaml": GO + "lists: {x: {values: [{in: 'on', out: true}]}}"}).sentences == 1
