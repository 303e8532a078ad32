"""Templates and a vocabulary that tests of spoken commands share."""

from __future__ import annotations

from edge_asr.commands.constraint import NetworkConstraint
from edge_asr.commands.network import Network
from edge_asr.commands.templates import read_templates
from edge_asr.commands.token_trie import build_trie

LIGHTS = """
language: en
intents:
  TurnOn:
    data:
      - sentences: ["(turn|switch) on [the] {lamp}", "{lamp} on"]
  Dim:
    data:
      - sentences: ["dim [the] {lamp} to {level} percent", "dim [the] {lamp} by twenty"]
        slots: {mode: level}
  Buy:
    data:
      - sentences: ["add {item} to [<my>] list"]
expansion_rules:
  my: "(my|the) [shopping]"
lists:
  lamp: {values: [kitchen light, {in: "(desk|table) lamp", out: desk}, lamp 2]}
  level: {range: {from: 0, to: 100}}
  item: {wildcard: true}
"""

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789'%,.!?-"


def network(text: str) -> Network:
    return read_templates({"test": text}).network


def vocabulary(*words: str) -> list[str]:
    """Every letter with and without a space before it, and the words."""
    return [*LETTERS, *(f" {letter}" for letter in LETTERS), *words]


def accepts(constraint: NetworkConstraint, tokens: list[int]) -> bool:
    """Whether the constraint lets the tokens be said one after the other, and the text end there."""
    state = constraint.begin()
    for token in tokens:
        following = constraint.following(state)
        found = following.tokens == token
        if not found.any():
            return False
        state = int(following.states[found][0])
    return constraint.may_end(state)


def spells(text: str, templates: str, *words: str) -> bool:
    """Whether a text may be written letter by letter, each word beginning with a space."""
    texts = vocabulary(*words)
    constraint = NetworkConstraint(network(templates), build_trie(texts))
    return accepts(constraint, tokens_of(text, texts))


def tokens_of(text: str, texts: list[str]) -> list[int]:
    """The longest tokens that spell a text with a space before it."""
    rest, tokens = f" {text}", []
    while rest:
        token = max((text for text in texts if rest.startswith(text)), key=len)
        tokens.append(texts.index(token))
        rest = rest[len(token) :]
    return tokens
