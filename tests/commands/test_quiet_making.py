"""The collector rests while something large is made."""

from __future__ import annotations

import gc

import pytest

from edge_asr.commands.book import CommandBook
from edge_asr.commands.listening import OPEN_SPEECH, Listening
from edge_asr.commands.quiet_making import FEW, without_collector
from edge_asr.commands.templates import CommandSet
from tests.commands.command_cases import LIGHTS


def test_it_goes_on_when_the_last_one_leaves() -> None:
    with without_collector():
        with without_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_a_failure() -> None:
    with pytest.raises(KeyError), without_collector():
        raise KeyError("x")
    assert gc.isenabled()


def test_much_that_was_made_is_old_and_still_looked_at_for_cycles() -> None:
    with without_collector():
        made: list[object] = [[] for _ in range(FEW + 1)]
        made.append(made)
    assert not any(each is made for each in gc.get_objects(generation=0))
    assert any(each is made for each in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0


def test_for_a_little_what_was_frozen_stays_so() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with without_collector():
            made: list[object] = [[] for _ in range(100)]
        assert gc.get_freeze_count() == frozen > 0
        assert len(made) == 100
    finally:
        gc.unfreeze()


def test_sets_of_the_configuration_and_of_sessions_are_made_so() -> None:
    seen: list[bool] = []

    def make(_commands: CommandSet) -> Listening:
        seen.append(gc.isenabled())
        return OPEN_SPEECH

    CommandBook(make, {"lights.yaml": LIGHTS}).prepare(LIGHTS)
    assert seen == [False, False]
