from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import home_assistant_intents
import pytest

from edge_asr.commands import templates as templates_module
from edge_asr.commands.interpretation import interpret
from edge_asr.commands.templates import read_templates
from edge_asr.errors import ConfigurationError
from tests.commands.command_cases import LIGHTS

HOME_ASSISTANT = Path(home_assistant_intents.__file__).parent / "data" / "en.json"
HOME = """
lists:
  name:
    values:
      - {in: front door, context: {domain: lock}}
      - {in: desk lamp, out: light.desk, context: {domain: light}}
  area: {values: [kitchen, living room]}
  floor: {values: [upstairs]}
"""


def one(sentence: str, rest: str = "") -> str:
    return f"intents: {{Do: {{data: [{{sentences: ['{sentence}']}}]}}}}\n{rest}"


def meaning(text: str, templates: str) -> Mapping[str, object] | None:
    command = interpret(read_templates({"test": templates}).network, text)
    return command.slots if command else None


def test_the_intents_and_sentences_are_counted():
    commands = read_templates({"test": LIGHTS})
    assert (commands.intents, commands.sentences, commands.left_out) == (("TurnOn", "Dim", "Buy"), 5, ())


@pytest.mark.parametrize("text", ["a b c", "b c a", "c a b", "a c"])
def test_the_parts_of_a_permutation_come_in_any_order(text):
    assert meaning(text, one("(a;[b];c)")) == {}


def test_a_permutation_of_many_parts_is_refused():
    with pytest.raises(ConfigurationError, match="9 parts; 8 are the most"):
        read_templates({"test": one("(a;b;c;d;e;f;g;h;i)")})


def test_a_local_list_comes_before_one_of_all():
    blocks = "{sentences: ['see {what}'], lists: {what: {values: [moon]}}}, {sentences: ['hear {what}']}"
    text = f"intents: {{Do: {{data: [{blocks}]}}}}\nlists: {{what: {{values: [rain]}}}}"
    assert meaning("see moon", text) == {"what": "moon"}
    assert meaning("hear rain", text) == {"what": "rain"}
    assert meaning("see rain", text) is None


def test_values_that_do_not_fit_the_block_cannot_be_said_in_it():
    block = "{sentences: ['lock {name}'], requires_context: {domain: lock}}"
    text = f"intents: {{Lock: {{data: [{block}]}}}}\n{HOME}"
    assert meaning("lock front door", text) == {"name": "front door"}
    assert meaning("lock desk lamp", text) is None


def test_a_range_has_its_numbers_in_digits_and_in_words_times_its_multiplier():
    text = one("down {n}", "lists: {n: {range: {from: 0, to: 200, step: 10, multiplier: -1}}}")
    assert meaning("down 20", text) == meaning("down twenty", text) == {"n": -20}
    assert meaning("down one hundred and ten", text) == {"n": -110}
    assert meaning("down 15", text) is None


def test_a_range_of_halves_and_one_below_zero():
    text = one("set {n}", "lists: {n: {range: {from: -5, to: 30, fractions: halves}}}")
    assert meaning("Set 20.5.", text) == meaning("set twenty point five", text) == {"n": 20.5}
    assert meaning("set -5", text) == meaning("set minus five", text) == {"n": -5}


def test_words_to_be_skipped_stand_before_and_behind():
    text = one("stop", "skip_words: [please, could you]")
    assert meaning("could you please stop please", text) == {}
    assert meaning("please", text) is None


def test_the_files_of_one_set_are_put_together():
    commands = read_templates({"sentences": one("go {where}"), "lists": "lists: {where: {values: [home]}}"})
    assert interpret(commands.network, "go home") is not None


def test_sentences_without_their_lists_are_left_out_and_the_lists_named():
    commands = read_templates({"test": "intents: {A: {data: [{sentences: ['go {where}', stop]}]}}"})
    assert (commands.sentences, commands.left_out) == (1, ("where",))
    assert interpret(commands.network, "go") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("language: en", "there are no intents"),
        ("- a", "holds no sentence templates"),
        ("a: [", "neither YAML nor JSON"),
        ("{", "neither YAML nor JSON"),
        (one("<a>"), "the expansion rule <a> is not defined"),
        (one("<a>", "expansion_rules: {a: 'x <b>', b: 'y <a>'}"), "<a> contains itself"),
        (one("{a}"), "no sentence can be said; nobody gave the lists a"),
        (one("(a"), "cannot be read as sentence templates"),
        ("intents: {A: {}}", "'data' is missing"),
        ("language: 5\n" + one("a"), "language '5' is no BCP 47 tag; write one such as `en` or `pt-BR`"),
        ("language: ../../de\n" + one("a"), "language '../../de' is no BCP 47 tag"),
        ("language: " + "x" * 500 + "\n" + one("a"), f"language '{'x' * 40}' is no BCP 47 tag"),
        (one("{a}", "lists: {a: {range: {from: 0, to: 1000000}}}"), "has 1000001 numbers; 20000 are the most"),
    ],
)
def test_what_is_wrong_is_said_with_the_files_name(text, reason):
    with pytest.raises(ConfigurationError, match=reason) as refusal:
        read_templates({"home.yaml": text})
    assert "home.yaml" in str(refusal.value)


def test_a_network_may_be_held_smaller_than_any():
    with pytest.raises(ConfigurationError, match="more than 10 nodes"):
        read_templates({"test": one("stop everything now")}, most_nodes=10)


def test_a_text_that_is_too_deep_is_refused():
    with pytest.raises(ConfigurationError, match="neither YAML nor JSON"):
        read_templates({"test": '{"a":' * 100_000})


def test_a_text_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(templates_module, "LONGEST_TEXT", 3)
    with pytest.raises(ConfigurationError, match="has 4 characters; 3 are the most"):
        read_templates({"test": "abcd"})


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("Turn on the desk lamp.", "HassTurnOn", {"name": "light.desk"}),
        ("set the kitchen brightness to fifty percent", "HassLightSet", {"area": "kitchen", "brightness": 50}),
        ("set a timer for 2 hours and thirty minutes", "HassStartTimer", {"hours": 2, "minutes": 30}),
        ("please add oat milk to my shopping list", "HassShoppingListAddItem", {"item": "oat milk"}),
        ("What's the weather?", "HassGetWeather", {}),
    ],
)
def test_home_assistants_own_sentences_are_read_as_they_are(text, intent, slots):
    commands = read_templates({"en.json": HOME_ASSISTANT.read_text(encoding="utf-8"), "home": HOME})
    command = interpret(commands.network, text)
    assert command is not None
    assert command.intent == intent
    assert {name: value for name, value in command.slots.items() if name != "domain"} == slots


@pytest.mark.parametrize(
    "text",
    [
        "intents: 5",
        "intents: [1]",
        "intents: {Go: {data: 3}}",
        "intents: {Go: {data: [{sentences: 4}]}}",
        "lists: 4\nintents: {Go: {data: [{sentences: [go]}]}}",
        "lists: {x: {range: {from: a, to: 3}}}\nintents: {Go: {data: [{sentences: ['{x}']}]}}",
    ],
)
def test_what_has_another_form_is_refused_in_words_of_the_format(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"stands where (the format wants another|a number is wanted)"):
        read_templates({"f.yaml": text})


@pytest.mark.parametrize("sentence", ["{query}", "[please] {query}", "({query};[now])"])
def test_a_wildcard_needs_words_beside_it(sentence):
    templates = f"intents: {{Ask: {{data: [{{sentences: ['{sentence}']}}]}}}}\nlists: {{query: {{wildcard: true}}}}"
    with pytest.raises(ConfigurationError, match="'Ask' may be nothing but a wildcard"):
        read_templates({"ask.yaml": templates})
