from __future__ import annotations

import pytest

from edge_asr import errors
from edge_asr.errors import error_of
from edge_asr.workers.exits import describe_exit


@pytest.mark.parametrize(
    ("returncode", "clause"),
    [
        (0, "exit status 0"),
        (255, "exit status 255"),
        (-9, "killed by signal 9 (SIGKILL; out of memory?)"),
        (-11, "killed by signal 11 (SIGSEGV; the native engine crashed)"),
        (-15, "killed by signal 15 (SIGTERM)"),
        (-100, "killed by signal 100"),
    ],
)
def test_an_exit_status_reads_as_a_cause(returncode, clause):
    assert describe_exit(returncode) == clause


def test_the_last_words_follow_the_cause():
    assert describe_exit(255, "'T' does not exist") == "exit status 255: 'T' does not exist"


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name != "error_of"])
def test_every_error_comes_back_as_itself(name):
    kind = getattr(errors, name)
    error = error_of(kind.code, "the sentence")
    assert error.code == kind.code
    assert str(error) == "the sentence"
    assert isinstance(error, errors.EdgeAsrError)


def test_the_class_decides_the_exit_code_of_the_command_line():
    assert isinstance(error_of("not_enough_memory", "x"), errors.MachineError)
    assert isinstance(error_of("model_too_new", "x"), errors.ModelError)


def test_a_code_nobody_knows_is_the_root_of_the_tree():
    error = error_of("from_the_future", "the sentence")
    assert error.code == "internal"
    assert str(error) == "the sentence"


def test_errors_do_not_pile_up_classes():
    for _ in range(3):
        error = error_of("model_damaged", "x")
    assert type(error).__mro__[1] is errors.ModelDamaged
