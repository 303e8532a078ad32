"""Sentence templates in the format of Home Assistant, read by its library hassil, as a network over characters.

::

    language: en
    intents:
      SetBrightness:
        data:
          - sentences: ["(set|turn) [the] {room} [lights] to {brightness} percent"]
    lists:
      room: {values: [kitchen, {in: "(living|sitting) room", out: lounge}]}
      brightness: {range: {from: 0, to: 100}}

Read are optional and alternative parts, permutations, expansion rules and lists, the ones of a block too: values with
what they stand for, ranges of numbers, and wildcards, which are any words at all. Numbers may be spelled or in digits.
``skip_words`` may stand before and behind a sentence. Of ``requires_context`` and ``excludes_context`` only what the
values of lists say of themselves is looked at: where somebody stands, the caller knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hassil import Intents
from hassil.expression import (
    Alternative,
    Expression,
    Group,
    ListReference,
    Permutation,
    RuleReference,
    Sentence,
    TextChunk,
)
from hassil.intents import IntentData, RangeSlotList, SlotList, TextSlotList, TextSlotValue, WildcardSlotList
from hassil.util import merge_dict

from edge_asr.commands.folding import fold_template
from edge_asr.commands.interpretation import interpret
from edge_asr.commands.network import Call, Meaning, Network, SlotValue, Value, remove_dead_ends
from edge_asr.commands.numbers import digits, language_tag, number_words, spoken
from edge_asr.commands.template_cycles import break_cycles
from edge_asr.commands.template_texts import require_texts
from edge_asr.errors import ConfigurationError

LONGEST_TEXT = 8_000_000
"""Characters of one file."""

MOST_PERMUTED = 8
"""Parts of one permutation: n of them are n * 2^(n-1) automata."""

MOST_SPELLINGS = 16
"""Ways to write one value of a list."""

MOST_NUMBERS = 20_000
"""Numbers of one range."""

NOBODYS_WORD = "\ue000"
"""A character for private use, which only a wildcard takes."""

DEEPEST = 50
"""Rules within one another."""


@dataclass(frozen=True, slots=True)
class CommandSet:
    """Templates that were read."""

    network: Network
    language: str
    intents: tuple[str, ...]
    sentences: int
    """Templates that can be said."""
    left_out: tuple[str, ...]
    """Names of lists that templates need and nobody gave; those templates cannot be said."""


def read_templates(texts: Mapping[str, str], most_nodes: int | None = None) -> CommandSet:
    """The language of templates.

    Args:
        texts: Name of the file, for messages, to its text in YAML or JSON; later ones add to earlier ones.
        most_nodes: Largest network, where it is to be smaller than any may be.

    Raises:
        ConfigurationError: With the file, or the part of it, that cannot be used.
    """
    merged: dict[str, Any] = {}
    for name, text in texts.items():
        merge_dict(merged, _document(name, text))
    merged.setdefault("language", "en")
    where = ", ".join(texts)
    if not merged.get("intents"):
        raise ConfigurationError(f"{where}: there are no intents; write `intents:` with sentences")
    try:
        require_texts(merged)
        language_tag(merged["language"])
        intents = Intents.from_dict(merged)
        try:
            return _Compiler(intents, Network(most_nodes=most_nodes)).compile()
        finally:
            break_cycles(intents)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    except Exception as error:  # hassil's parser fails in many ways on what is not its format
        raise ConfigurationError(f"{where} cannot be read as sentence templates: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """In words of the format, not of the program that stumbled over it."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    if isinstance(error, AttributeError | TypeError | IndexError):
        return "a text, a list or a table stands where the format wants another of them"
    if isinstance(error, RecursionError):
        return "its parts lie too deep within one another"
    if "invalid literal" in str(error) or "could not convert" in str(error):
        return f"{str(error).rpartition(': ')[2]} stands where a number is wanted"
    return str(error) or "it is not in the format"


def _document(name: str, text: str) -> dict[str, Any]:
    if len(text) > LONGEST_TEXT:
        raise ConfigurationError(f"{name} has {len(text)} characters; {LONGEST_TEXT} are the most")
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else _yaml(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{name} is neither YAML nor JSON: {error}") from error
    if not isinstance(document, dict):
        raise ConfigurationError(f"{name} holds no sentence templates; it should begin with `language:` or `intents:`")
    return document


def _yaml(text: str) -> Any:  # noqa: ANN401  whatever stands there
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506  a safe loader, in C where it was built
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where names are looked up: the block's own rules and lists come first."""

    block: int
    """0 where the block has none of its own and asks nothing of values."""
    data: IntentData | None


class _Compiler:
    def __init__(self, intents: Intents, network: Network) -> None:
        self._intents = intents
        self._language = intents.language
        self._numbers = number_words(self._language)
        self._longest_number = max(map(len, self._numbers), default=0)
        self._network = network
        self._parts: dict[tuple[str, str, int], int] = {}
        self._scopes: dict[str, int] = {}
        self._open: list[str] = []
        self._missing: set[str] = set()
        self._sentence_starts: list[int] = []

    def compile(self) -> CommandSet:
        network = self._network
        language = network.parts[network.new_part()]
        begin, done = network.new_node(), network.new_node()
        network.spell(language.start, " ", begin)
        self._skip_words(begin, done)
        network.jump(done, language.end)
        for meaning, data, sentence in self._sentences():
            self._add_sentence(meaning, data, sentence, begin, done)
        before = [start for start in self._sentence_starts if self._has_way(start)]
        remove_dead_ends(network)
        kept = sum(self._has_way(start) for start in before)
        if not kept:
            needed = f"; nobody gave the lists {', '.join(sorted(self._missing))}" if self._missing else ""
            raise ConfigurationError(f"no sentence can be said{needed}")
        self._refuse_any_speech()
        left_out = tuple(sorted(self._missing)) if kept < len(self._sentence_starts) else ()
        return CommandSet(network, self._language, tuple(self._intents.intents), kept, left_out)

    def _refuse_any_speech(self) -> None:
        anything = interpret(self._network, NOBODYS_WORD) if self._network.wild else None
        if anything:
            raise ConfigurationError(
                f"a sentence of {anything.intent!r} may be nothing but a wildcard, which is any speech at all; put "
                "words before or behind it"
            )

    def _has_way(self, node: int) -> bool:
        network = self._network
        return bool(network.letters[node] or network.jumps[node] or network.calls[node])

    def _sentences(self) -> Iterator[tuple[Meaning, IntentData, Sentence]]:
        order = 0
        for intent in self._intents.intents.values():
            for data in intent.data:
                fixed = tuple((name, _slot_value(value)) for name, value in data.slots.items())
                for sentence in data.sentences:
                    yield Meaning(intent.name, fixed, order), data, sentence
                    order += 1

    def _add_sentence(self, meaning: Meaning, data: IntentData, sentence: Sentence, begin: int, done: int) -> None:
        start, end = self._network.new_node(), self._network.new_node()
        scope = self._scope(data)
        self._network.jump(begin, start)
        self._network.jump(end, done, meaning)
        self._sentence_starts.append(start)
        self._draw(sentence.expression, scope, start, end)

    def _scope(self, data: IntentData) -> _Scope:
        """Blocks that look up the same things share what is drawn for them."""
        if data.expansion_rules or data.slot_lists:
            asked = str(id(data))
        elif data.requires_context or data.excludes_context:
            asked = json.dumps([data.requires_context, data.excludes_context], sort_keys=True, default=str)
        else:
            return _EVERYWHERE
        return _Scope(self._scopes.setdefault(asked, len(self._scopes) + 1), data)

    def _skip_words(self, begin: int, done: int) -> None:
        for words in self._intents.skip_words:
            text = fold_template(words).strip()
            if text:
                self._network.fillers.update(text.split())
                self._network.spell(begin, text + " ", begin)
                self._network.spell(done, " " + text, done)

    # Expressions.

    def _draw(self, expression: Expression, scope: _Scope, source: int, target: int) -> None:
        match expression:
            case TextChunk():
                self._draw_text(fold_template(expression.text), source, target)
            case ListReference():
                self._draw_list(expression, scope, source, target)
            case RuleReference(rule_name=name):
                self._network.calls[source].append(Call(self._rule(name, scope), target))
            case Alternative(items=items):
                for item in items:
                    self._draw(item, scope, source, target)
            case Permutation(items=items):
                self._draw_permutation(items, scope, source, target)
            case Group(items=items):
                self._draw_sequence(items, scope, source, target)
            case _:
                raise ConfigurationError(f"a part of a sentence is of an unknown kind: {expression}")

    def _draw_sequence(self, items: Sequence[Expression], scope: _Scope, source: int, target: int) -> None:
        for item in items[:-1]:
            after = self._network.new_node()
            self._draw(item, scope, source, after)
            source = after
        if items:
            self._draw(items[-1], scope, source, target)
        else:
            self._network.jump(source, target)

    def _draw_permutation(self, items: Sequence[Expression], scope: _Scope, source: int, target: int) -> None:
        """Nodes are the sets of items that were said."""
        if len(items) > MOST_PERMUTED:
            raise ConfigurationError(f"a permutation has {len(items)} parts; {MOST_PERMUTED} are the most")
        everything = (1 << len(items)) - 1
        places = {0: source, everything: target}
        for said in range(everything):
            for number, item in enumerate(items):
                with_item = said | 1 << number
                if with_item == said:
                    continue
                after = places.setdefault(with_item, self._network.new_node())
                before = places.setdefault(said, self._network.new_node())
                if said:
                    between = self._network.new_node()
                    self._network.spell(before, " ", between)
                    before = between
                self._draw(item, scope, before, after)

    def _draw_text(self, text: str, source: int, target: int) -> None:
        """The text, and beside its numbers what else is written for them."""
        pieces = text.split(" ")
        places = [source, *(self._network.new_node() for _ in pieces[1:]), target]
        for number, piece in enumerate(pieces):
            space = " " * (number > 0)
            self._network.spell(places[number], space + piece, places[number + 1])
            length, others = self._number_at(pieces, number)
            for other in others:
                self._network.spell(places[number], space + other, places[number + length])

    # Rules and lists.

    def _rule(self, name: str, scope: _Scope) -> int:
        local = scope.data.expansion_rules.get(name) if scope.data else None
        rule = local or self._intents.expansion_rules.get(name)
        if rule is None:
            raise ConfigurationError(f"the expansion rule <{name}> is not defined")

        def draw(start: int, end: int) -> None:
            self._draw(rule.expression, scope, start, end)

        return self._part("rule", name, scope, draw)

    def _part(self, kind: str, name: str, scope: _Scope, draw: Callable[[int, int], None]) -> int:
        key = (kind, name, scope.block)
        if key not in self._parts:
            label = f"<{name}>" if kind == "rule" else f"{{{name}}}"
            if label in self._open or len(self._open) >= DEEPEST:
                raise ConfigurationError(f"{label} contains itself or lies too deep: {' '.join(self._open)}")
            self._open.append(label)
            number = self._network.new_part()
            part = self._network.parts[number]
            draw(part.start, part.end)
            self._open.pop()
            self._parts[key] = number
        return self._parts[key]

    def _draw_list(self, reference: ListReference, scope: _Scope, source: int, target: int) -> None:
        if reference.prefix or reference.suffix:
            before, behind = self._network.new_node(), self._network.new_node()
            self._network.spell(source, fold_template(reference.prefix or ""), before)
            self._network.spell(behind, fold_template(reference.suffix or ""), target)
            source, target = before, behind
        slots = self._slot_list(reference, scope)
        if slots is None:
            self._missing.add(reference.list_name)
            return

        everything = slots.values if isinstance(slots, TextSlotList) else []
        values = [value for value in everything if _fits(value.context, scope.data)]

        def draw(start: int, end: int) -> None:
            self._draw_values(slots, values, start, end)

        is_local = scope.data is not None and reference.list_name in scope.data.slot_lists
        kind = f"list {sorted(map(id, values))}" if values and len(values) < len(everything) else "list"
        part = self._part(kind, reference.list_name, scope if is_local else _EVERYWHERE, draw)
        self._network.calls[source].append(Call(part, target, reference.slot_name))

    def _slot_list(self, reference: ListReference, scope: _Scope) -> SlotList | None:
        inline = reference.get_inline_range()
        if inline is not None:
            return RangeSlotList(reference.list_name, *inline)
        local = scope.data.slot_lists.get(reference.list_name) if scope.data else None
        return local or self._intents.slot_lists.get(reference.list_name)

    def _draw_values(self, slots: SlotList, values: Sequence[TextSlotValue], start: int, end: int) -> None:
        match slots:
            case TextSlotList():
                self._draw_texts(values, start, end)
            case RangeSlotList():
                self._draw_range(slots, start, end)
            case WildcardSlotList():
                inside = self._network.new_node()
                self._network.wild[start] = self._network.wild[inside] = inside
                self._network.jump(inside, end)
            case _:
                raise ConfigurationError(f"the list {slots.name!r} is of an unknown kind")

    def _draw_texts(self, values: Sequence[TextSlotValue], start: int, end: int) -> None:
        for value in values:
            meant = _meant(value)
            mark = None if meant is None else Value(_slot_value(meant))
            if isinstance(value.text_in, TextChunk):
                for text in self._spellings(fold_template(value.text_in.text).split()):
                    self._network.jump(self._network.spell_shared(start, text), end, mark)
            else:
                said = self._network.new_node()
                self._draw(value.text_in, _EVERYWHERE, start, said)
                self._network.jump(said, end, mark)

    def _spellings(self, words: list[str]) -> list[str]:
        """A value and, where it has numbers, the other ways to write it."""
        texts, place = [""], 0
        while place < len(words):
            length, others = self._number_at(words, place)
            pieces = [" ".join(words[place : place + length]), *others]
            texts = [f"{text} {piece}" for text in texts for piece in pieces][:MOST_SPELLINGS]
            place += length
        return [text[1:] for text in texts if text]

    def _number_at(self, words: Sequence[str], place: int) -> tuple[int, tuple[str, ...]]:
        """How many words from a place on are a number, at least 1, and what else is written for it."""
        for length in range(min(self._longest_number, len(words) - place), 0, -1):
            value = self._numbers.get(tuple(words[place : place + length]))
            if value is not None:
                return length, (str(value),)
        word = words[place]
        if word.isdecimal() and word.isascii() and len(word) < 4:
            return 1, spoken(int(word), self._language)
        return 1, ()

    def _draw_range(self, slots: RangeSlotList, start: int, end: int) -> None:
        count = (slots.stop - slots.start) // slots.step + 1
        if count > MOST_NUMBERS:
            raise ConfigurationError(
                f"the list {slots.name!r} has {count} numbers; {MOST_NUMBERS} are the most, so use a step"
            )
        language = language_tag(slots.words_language or self._language)
        for number in slots.get_numbers():
            written = (digits(number),) if slots.digits else ()
            value = number if slots.multiplier is None else number * slots.multiplier
            for text in (*written, *(spoken(number, language) if slots.words else ())):
                self._network.jump(self._network.spell_shared(start, text), end, Value(value))


def _meant(value: TextSlotValue) -> Any:  # noqa: ANN401  whatever the file says
    """What a slot has: without `out` the value as the list writes it, whichever case and marks are heard; of several
    spellings the one that was heard, which is ``None`` here."""
    if value.value_out is None and isinstance(value.text_in, TextChunk):
        return value.text_in.original_text.strip()
    return value.value_out


_EVERYWHERE = _Scope(0, None)


def _slot_value(value: object) -> SlotValue:
    """What a slot can hold; anything else as JSON."""
    return value if isinstance(value, str | int | float | bool) else json.dumps(value, ensure_ascii=False, default=str)


def _fits(context: Mapping[str, Any] | None, data: IntentData | None) -> bool:
    """Whether a value, by what it says of itself, may stand in a block's sentences."""
    if data is None or not context:
        return True
    required = all(_agrees(context[key], wanted) for key, wanted in data.requires_context.items() if key in context)
    excluded = any(_agrees(context[key], banned) for key, banned in data.excludes_context.items() if key in context)
    return required and not excluded


def _agrees(found: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        wanted = wanted.get("value")
    if wanted is None:
        return True
    return found in wanted if isinstance(wanted, list | tuple | set) else found == wanted
