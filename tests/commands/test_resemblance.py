from __future__ import annotations

import numpy as np
import pytest

from edge_asr.commands.resemblance import Resemblance, words_of, written


def cost(word: str, heard: str) -> float:
    resemblance = Resemblance([f" {word}"])
    pieces = resemblance.pieces_of([heard])
    return float(resemblance.costs(pieces)[0, 0, len(pieces)])


def test_a_word_costs_nothing_where_it_was_heard():
    assert cost("latte", "latte") == 0


def test_a_letter_that_sounds_alike_costs_less_than_another():
    assert cost("latte", "lotte") == pytest.approx(1 / 3)
    assert cost("latte", "ladde") < cost("latte", "lamme")


def test_a_word_that_was_not_heard_costs_its_letters():
    assert Resemblance([" latte", " 12"]).costs([])[:, 0, 0].tolist() == [5, 8]


def test_numbers_in_digits_are_the_same_or_nothing_like_it():
    assert cost("12", "12") == 0
    assert cost("12", "13") == np.inf


def test_several_heard_words_may_be_one():
    resemblance = Resemblance([" cappuccino"])
    heard = resemblance.pieces_of(["cap", "a", "chino"])
    costs = resemblance.costs(heard)[0]
    assert costs[0, 3] < 4 < costs[0, 1]


def test_a_heard_word_that_is_two_is_cut():
    resemblance = Resemblance([" a", " large"])
    pieces = resemblance.pieces_of(["alarge"])
    assert [piece.text for piece in pieces] == ["a", "large"]
    assert written(pieces) == "alarge"


def test_one_that_is_a_word_is_left_whole():
    resemblance = Resemblance([" a", " large", " alarm"])
    assert [piece.text for piece in resemblance.pieces_of(["alarm"])] == ["alarm"]


def test_case_accents_and_marks_do_not_matter():
    assert words_of("Caf\u00e9, s'il vous pla\u00eet!") == ["cafe", "sil", "vous", "plait"]


def test_ideographs_are_words():
    assert words_of("\u6253\u5f00 lamp2") == ["\u6253", "\u5f00", "lamp2"]
