"""Grammars as text, in the part of the JSpeech Grammar Format that describes a language (W3C Note, June 2000).

::

    #JSGF V1.0;
    grammar lights;
    <room> = kitchen | living room | bedroom;
    public <command> = turn (on | off) [the] <room> (light | lights) | stop+;

Read are rules, sequences, ``|``, ``( )``, ``[ ]``, ``*``, ``+``, weights before alternatives (``/3/``), quoted words,
``<NULL>``, ``<VOID>``, comments, and ``<GARBAGE>`` (from the sister format SRGS) for speech of any kind. Tags
(``{…}``) are read and ignored. Rules may not contain themselves; imports are refused. The language is that of the
public rules, or of all rules that no other uses where none is public. The header lines may be left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from edge_asr.commands.grammar import Alternatives, AnySpeech, Expression, Repeat, Sequence, Weighted, Word, sentence
from edge_asr.errors import ConfigurationError

LONGEST_TEXT = 1_000_000
"""Characters."""

DEEPEST = 50
"""Brackets and rules within one another."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<weight>/\s*\d+(?:\.\d*)?\s*/)
    |(?P<tag>\{(?:[^{}\\]|\\.)*\})
    |(?P<rule><[^<>\s]+>)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<mark>[;=|()\[\]*+])
    |(?P<word>[^\s;=|()\[\]*+<>{}"/\\]+)""",
    re.VERBOSE | re.DOTALL,
)
_SPECIAL: dict[str, Expression] = {"<NULL>": Sequence(()), "<VOID>": Alternatives(()), "<GARBAGE>": AnySpeech()}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


_NONE = _Token("none", "", 0)
"""Behind the last."""


def read_jsgf(text: str) -> Expression:
    """The language of a grammar.

    Raises:
        ConfigurationError: With the line, what stands there, and what may.
    """
    if len(text) > LONGEST_TEXT:
        raise ConfigurationError(f"the grammar has {len(text)} characters; {LONGEST_TEXT} are the most")
    return _Rules(_tokens(_without_header(text))).language()


def _without_header(text: str) -> str:
    """The declaration and the grammar's name say nothing about the language; line numbers stay."""
    return re.sub(r"\A(\ufeff?\s*)#JSGF[^\n;]*;", r"\1", text)


def _tokens(text: str) -> list[_Token]:
    tokens, position, line = [], 0, 1
    while position < len(text):
        found = _TOKEN.match(text, position)
        if not found:
            raise ConfigurationError(f"line {line} of the grammar: cannot read {text[position : position + 20]!r}")
        if found.lastgroup not in ("space", "tag", None):
            tokens.append(_Token(str(found.lastgroup), found.group(), line))
        line += found.group().count("\n")
        position = found.end()
    return tokens


class _Rules:
    """The rules of a grammar; each is read when it is first used."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._bodies: dict[str, list[_Token]] = {}
        self._public: list[str] = []
        self._known = dict(_SPECIAL)
        self._open: list[str] = []
        for statement in _statements(tokens):
            self._add(statement)

    def language(self) -> Expression:
        """The public rules; without any, those that no other uses."""
        if not self._bodies:
            raise ConfigurationError("the grammar has no rule; write one, such as: public <digit> = one | two;")
        used = {token.text for body in self._bodies.values() for token in body if token.kind == "rule"}
        roots = self._public or [name for name in self._bodies if name not in used] or list(self._bodies)
        expressions = {name: self.expression(_Token("rule", name, 0)) for name in self._bodies}
        return Alternatives(tuple(expressions[name] for name in roots))

    def expression(self, use: _Token) -> Expression:
        """What a rule stands for where it is used."""
        name = use.text
        if name in self._open or len(self._open) > DEEPEST:
            raise ConfigurationError(
                f"line {use.line} of the grammar: {name} contains itself or lies too deep; repeat with * or + instead"
            )
        if name not in self._known:
            if name not in self._bodies:
                raise ConfigurationError(f"line {use.line} of the grammar: the rule {name} is not defined")
            self._open.append(name)
            self._known[name] = _Body(self._bodies[name], self).whole()
            self._open.pop()
        return self._known[name]

    def _add(self, statement: list[_Token]) -> None:
        first = statement[0]
        if first.kind == "word" and first.text == "grammar":
            return
        is_public = first.kind == "word" and first.text == "public"
        name, equals, *body = [*statement[is_public:], _NONE, _NONE]
        if name.kind != "rule" or equals.text != "=":
            raise _unexpected(first, "a rule, such as <digit> = one | two;")
        if name.text in self._bodies or name.text in _SPECIAL:
            raise ConfigurationError(f"line {name.line} of the grammar: the rule {name.text} is defined already")
        self._bodies[name.text] = [token for token in body if token is not _NONE]
        if is_public:
            self._public.append(name.text)


def _statements(tokens: list[_Token]) -> Iterator[list[_Token]]:
    statement: list[_Token] = []
    for token in tokens:
        if token.text != ";":
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        raise ConfigurationError(f"line {statement[-1].line} of the grammar: the last rule does not end with ;")


class _Body:
    """The right side of a rule, read by recursive descent."""

    def __init__(self, tokens: list[_Token], rules: _Rules) -> None:
        self._tokens = tokens
        self._rules = rules
        self._at = 0
        self._depth = 0

    def whole(self) -> Expression:
        """All of it."""
        expression = self._alternatives()
        if self._next.kind != "none":
            raise _unexpected(self._next, "a word, a rule or ;")
        return expression

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _NONE

    def _take(self) -> _Token:
        token = self._next
        self._at += 1
        return token

    def _alternatives(self) -> Expression:
        choices = [self._weighted_sequence()]
        while self._next.text == "|":
            self._take()
            choices.append(self._weighted_sequence())
        if all(weight is None for weight, _ in choices):
            return choices[0][1] if len(choices) == 1 else Alternatives(tuple(choice for _, choice in choices))
        return _weighted(choices)

    def _weighted_sequence(self) -> tuple[float | None, Expression]:
        weight = float(self._take().text.strip("/")) if self._next.kind == "weight" else None
        parts = [self._repeated()]
        while self._next.text not in ("|", ")", "]") and self._next.kind != "none":
            parts.append(self._repeated())
        return weight, parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self) -> Expression:
        part = self._part()
        while self._next.text in ("*", "+"):
            part = Repeat(part, at_least=int(self._take().text == "+"))
        return part

    def _part(self) -> Expression:
        token = self._take()
        match token.kind, token.text:
            case "word", text:
                return Word(text)
            case "quoted", text:
                return sentence(re.sub(r"\\(.)", r"\1", text[1:-1]))
            case "rule", _:
                return self._rules.expression(token)
            case _, "(":
                return self._bracketed(token, ")")
            case _, "[":
                return Repeat(self._bracketed(token, "]"), at_most=1)
        raise _unexpected(token, "a word or a rule")

    def _bracketed(self, opening: _Token, closing: str) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ConfigurationError(f"line {opening.line} of the grammar: more than {DEEPEST} brackets in one another")
        inside = self._alternatives()
        if self._take().text != closing:
            raise ConfigurationError(f"line {opening.line} of the grammar: {opening.text} is never closed")
        self._depth -= 1
        return inside


def _weighted(choices: list[tuple[float | None, Expression]]) -> Expression:
    """A weight is a share of all; the likeliest choice costs nothing."""
    most = max(1.0 if weight is None else weight for weight, _ in choices)
    weighted = []
    for weight, choice in choices:
        share = (1.0 if weight is None else weight) / most if most else 0.0
        if share:  # What has the weight 0 is never said.
            weighted.append(Weighted(choice, abs(math.log(share))))
    return Alternatives(tuple(weighted))


def _unexpected(token: _Token, wanted: str) -> ConfigurationError:
    where = f"line {token.line} of the grammar: {token.text!r}" if token.line else "the end of a rule"
    return ConfigurationError(f"{where} stands where {wanted} should")
