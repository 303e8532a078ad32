from __future__ import annotations

import math

import pytest

from edge_asr.commands.grammar import Alternatives, AnySpeech, Repeat, Sequence, Weighted, Word
from edge_asr.commands.jsgf import DEEPEST, LONGEST_TEXT, read_jsgf
from edge_asr.errors import ConfigurationError

A, B, C = Word("a"), Word("b"), Word("c")


@pytest.mark.parametrize(
    ("body", "expression"),
    [
        ("a", A),
        ("a b c", Sequence((A, B, C))),
        ("a | b c", Alternatives((A, Sequence((B, C))))),
        ("(a | b) c", Sequence((Alternatives((A, B)), C))),
        ("[a] b", Sequence((Repeat(A, at_most=1), B))),
        ("a* b+", Sequence((Repeat(A), Repeat(B, at_least=1)))),
        ("(a b)+", Repeat(Sequence((A, B)), at_least=1)),
        ("a {tag} b // comment", Sequence((A, B))),
        ("a /* two\nlines */ b", Sequence((A, B))),
        ('"a b" c', Sequence((Sequence((A, B)), C))),
        ("<NULL>", Sequence(())),
        ("<VOID>", Alternatives(())),
        ("a | <GARBAGE>", Alternatives((A, AnySpeech()))),
        ("what's", Word("what's")),
    ],
)
def test_operators(body, expression):
    assert read_jsgf(f"public <rule> = {body}\n;") == Alternatives((expression,))


def test_a_weight_is_a_cost_beside_the_likeliest_choice():
    assert read_jsgf("<rule> = /6/ a | /3/ b | /0/ c;") == Alternatives(
        (Alternatives((Weighted(A, 0.0), Weighted(B, math.log(2)))),)
    )


def test_headers_are_read_over_and_rules_may_be_used_before_they_are_written():
    text = "#JSGF V1.0 UTF-8 en;\ngrammar test.one;\npublic <rule> = <other> c;\n<other> = a | b;\n"
    assert read_jsgf(text) == Alternatives((Sequence((Alternatives((A, B)), C)),))


def test_only_public_rules_are_the_language():
    assert read_jsgf("<one> = a; public <two> = b;") == Alternatives((B,))


def test_without_a_public_rule_those_that_no_other_uses_are():
    assert read_jsgf("<one> = a; <two> = <one> b; <three> = c;") == Alternatives((Sequence((A, B)), C))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no rule; write one"),
        ("<a> = one", "line 1 of the grammar: the last rule does not end with ;"),
        ("<a> = one;\n<b> = <c>;", "line 2 of the grammar: the rule <c> is not defined"),
        ("<a> = one;\n<a> = two;", "line 2 of the grammar: the rule <a> is defined already"),
        ("<NULL> = one;", "the rule <NULL> is defined already"),
        ("<a> = <b>;\n<b> = x <a>;", "line 2 of the grammar: <a> contains itself"),
        ("<a> = (one | two;", r"line 1 of the grammar: \( is never closed"),
        ("<a> = one ] two;", "line 1 of the grammar: ']' stands where"),
        ("<a> = one | ;", "the end of a rule stands where a word or a rule should"),
        ("\nimport <a.b>;", "line 2 of the grammar: 'import' stands where a rule"),
        ("<a> = one\n\\ two;", r"line 2 of the grammar: cannot read '\\\\ two;'"),
        (f"<a> = {'(' * 60} b {')' * 60};", f"more than {DEEPEST} brackets"),
        ("x" * (LONGEST_TEXT + 1), f"has {LONGEST_TEXT + 1} characters"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text, sentence):
    with pytest.raises(ConfigurationError, match=sentence):
        read_jsgf(text)


def test_deeply_nested_rules_are_refused():
    rules = "".join(f"<r{number}> = <r{number + 1}>;\n" for number in range(100))
    with pytest.raises(ConfigurationError, match="lies too deep"):
        read_jsgf(rules + "<r100> = a;")
