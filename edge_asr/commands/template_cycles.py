"""What hassil has parsed, made free of cycles: it is gone once nobody needs it, without the interpreter's collector.

A text in a group knows its group. Of Home Assistant's sentences these are 30,000 objects, which would lie about for
every set that a session brings, the longer the less else there is to collect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hassil import Intents
from hassil.expression import Expression, Group, TextChunk
from hassil.intents import SlotList, TextSlotList


def break_cycles(intents: Intents) -> None:
    """No text knows its group any more; hassil itself could match nothing with them now."""
    waiting = list(_expressions(intents))
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, TextChunk):
            expression.parent = None
        elif isinstance(expression, Group):
            waiting += expression.items


def _expressions(intents: Intents) -> Iterator[Expression]:
    blocks = [block for intent in intents.intents.values() for block in intent.data]
    for block in blocks:
        parsed = vars(block).get("sentences", ())  # which are parsed when they are first asked for
        yield from (sentence.expression for sentence in parsed)
    for rules in (intents.expansion_rules, *(block.expansion_rules for block in blocks)):
        yield from (rule.expression for rule in rules.values())
    for lists in (intents.slot_lists, *(block.slot_lists for block in blocks)):
        yield from _in_values(lists.values())


def _in_values(lists: Iterable[SlotList]) -> Iterator[Expression]:
    for each in lists:
        if isinstance(each, TextSlotList):
            yield from (value.text_in for value in each.values)
