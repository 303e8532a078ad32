"""Sessions wait for their commands on a thread of their own, and nobody else waits with them."""

from __future__ import annotations

import threading

import pytest

from edge_asr.requests import SessionOptions
from edge_asr.workers.waiting_room import WaitingRoom

PATIENCE_S = 30.0
"""Only a broken test waits so long."""


class Reader:
    """Reads each set when it is told to."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Semaphore(0)

    def __call__(self, options: SessionOptions) -> None:
        self.begun.release()
        assert self.may_end.acquire(timeout=PATIENCE_S)
        self.read.append(options.commands or "")


@pytest.fixture
def reader():
    return Reader()


@pytest.fixture
def carried_out():
    return []


@pytest.fixture
def deaths():
    return []


@pytest.fixture
def room(reader, carried_out, deaths):
    return WaitingRoom(reader, carried_out.append, deaths.append)


def test_what_comes_meanwhile_is_carried_out_behind_the_opening(room, reader, carried_out):
    room.enter("a", SessionOptions(commands="set"), "open a")
    assert reader.begun.acquire(timeout=PATIENCE_S)
    assert room.keep("a", "audio of a")
    assert carried_out == []
    reader.may_end.release()
    room.stop()
    assert carried_out == ["open a", "audio of a"]


def test_a_session_without_commands_does_not_wait(room, reader):
    room.enter("a", SessionOptions(commands="set"), "open a")
    assert not room.keep("b", "audio of b")
    reader.may_end.release()
    room.stop()


def test_what_comes_after_the_opening_is_not_kept(room, reader):
    room.enter("a", SessionOptions(commands="set"), "open a")
    reader.may_end.release()
    room.stop()
    assert not room.keep("a", "audio of a")


def test_what_a_client_brought_that_left_is_not_read(room, reader, carried_out):
    room.enter("a", SessionOptions(commands="first"), "open a")
    assert reader.begun.acquire(timeout=PATIENCE_S)
    room.enter("b", SessionOptions(commands="second"), "open b")
    assert room.leave("b")
    reader.may_end.release()
    room.stop()
    assert (reader.read, carried_out) == (["first"], ["open a"])


def test_a_client_that_leaves_during_the_reading_is_not_let_in(room, reader, carried_out):
    room.enter("a", SessionOptions(commands="set"), "open a")
    assert reader.begun.acquire(timeout=PATIENCE_S)
    assert room.leave("a")
    reader.may_end.release()
    room.stop()
    assert carried_out == []


def test_only_who_waits_can_leave(room):
    assert not room.leave("a")
    room.stop()


def test_a_fault_of_the_program_is_not_kept_from_whoever_watches(carried_out, deaths):
    fault = MemoryError()

    def read(_options: SessionOptions) -> None:
        raise fault

    room = WaitingRoom(read, carried_out.append, deaths.append)
    room.enter("a", SessionOptions(commands="set"), "open a")
    room.stop()
    assert (deaths, carried_out) == ([fault], [])
