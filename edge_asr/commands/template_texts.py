"""What stands in sentence templates where a text is wanted and is none: YAML takes ``on`` and ``5`` for something else.

The library that reads templates stumbles over these without a word of where they are, or takes them along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from edge_asr.errors import ConfigurationError


def require_texts(templates: Mapping[str, Any]) -> None:
    """See that there are texts where sentences, values and names stand; other forms are not looked into.

    Raises:
        ConfigurationError: With the first place where there is none.
    """
    for place, value in _texts(templates):
        if value is None or isinstance(value, str | list | dict):
            continue  # of another form, which whoever reads it tells
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        why = "; YAML reads on, off, yes and no as true and false" if isinstance(value, bool) else ""
        raise ConfigurationError(f"{place}: {shown} stands where a text is wanted; put it in quotes{why}")


def _texts(templates: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each place of a text, and what stands there."""
    for name, intent in _items(templates.get("intents")):
        yield "intents", name
        for block in _elements(_table(intent).get("data")):
            table = _table(block)
            yield from ((f"sentences of {name}", sentence) for sentence in _elements(table.get("sentences")))
            yield from _rules_and_lists(table)
    yield from _rules_and_lists(templates)
    yield from (("skip_words", words) for words in _elements(templates.get("skip_words")))


def _rules_and_lists(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, rule in _items(table.get("expansion_rules")):
        yield f"expansion_rules.{name}", rule
    for name, slots in _items(table.get("lists")):
        yield "lists", name
        for value in _elements(_table(slots).get("values")):
            yield f"lists.{name}.values", _table(value).get("in") if isinstance(value, dict) else value


def _items(value: object) -> Iterator[tuple[Any, Any]]:
    yield from _table(value).items()


def _table(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _elements(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
