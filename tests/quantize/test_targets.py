from __future__ import annotations

from typing import get_args

import pytest

from edge_asr.quantize.choices import Choice
from edge_asr.quantize.targets import TARGETS, TargetName

MATRIX = (512, 512)


def test_every_target_has_a_profile() -> None:
    assert tuple(TARGETS) == get_args(TargetName)


@pytest.mark.parametrize("name", TARGETS)
def test_every_profile_can_price_every_choice_it_offers(name: str) -> None:
    target = TARGETS[name]
    assert target.choices[0] == "fp32"
    assert all(target.cost(choice, MATRIX, 8) > 0 for choice in target.choices)


@pytest.mark.parametrize("choice", ["int8", "weight8", "weight4"])
def test_integer_kernels_are_cheaper_where_there_is_a_dot_product(choice: Choice) -> None:
    assert TARGETS["pi5"].cost(choice, MATRIX, 16) < TARGETS["pi5"].cost("fp32", MATRIX, 16) / 2


@pytest.mark.parametrize("name", ["pi3", "pi4"])
@pytest.mark.parametrize("choice", ["weight8", "weight4"])
def test_blocks_are_dearer_than_floats_where_there_is_none(name: str, choice: Choice) -> None:
    assert TARGETS[name].cost(choice, MATRIX, 16) > TARGETS[name].cost("fp32", MATRIX, 16)


@pytest.mark.parametrize("name", TARGETS)
def test_halves_cost_what_floats_cost(name: str) -> None:
    assert TARGETS[name].cost("fp16", MATRIX, 16) == TARGETS[name].cost("fp32", MATRIX, 16)


def test_a_single_vector_costs_the_fetching_of_the_weights() -> None:
    target = TARGETS["pi4"]
    assert target.cost("int8", MATRIX, 1) < target.cost("fp32", MATRIX, 1) / 2
