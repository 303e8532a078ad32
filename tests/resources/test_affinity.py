from __future__ import annotations

import os
import threading

import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.resources.affinity import escaped_threads, pin_to, thread_masks
from tests.boards import write_tree


@pytest.fixture
def in_thread():
    """Run something in a thread of its own, so that the test process keeps its mask."""

    def run(action):
        outcome: list[object] = []

        def call() -> None:
            try:
                outcome.append(action())
            except ConfigurationError as error:
                outcome.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        return outcome[0]

    return run


def test_a_pinned_thread_runs_where_it_was_put(in_thread):
    cpu = max(os.sched_getaffinity(0))

    def pin():
        pin_to({cpu})
        return thread_masks(os.getpid())[threading.get_native_id()]

    assert in_thread(pin) == {cpu}


def test_a_core_that_is_not_there_is_named_beside_those_that_are(in_thread):
    error = in_thread(lambda: pin_to({0, 1023}))
    allowed = sorted(os.sched_getaffinity(0))
    assert str(error) == f"worker.cpus = [0, 1023]: cannot use [1023] here; this process may use {allowed}"


def test_only_cores_that_are_not_there_is_the_same_error(in_thread):
    assert "cannot use [1023] here" in str(in_thread(lambda: pin_to({1023})))


def test_a_thread_outside_its_cores_is_found(tmp_path):
    write_tree(
        tmp_path,
        {
            "proc/7/task/7/status": "Name:\tworker\nCpus_allowed_list:\t2-3",
            "proc/7/task/9/status": "Name:\tworker\nCpus_allowed_list:\t0-3",
        },
    )
    assert escaped_threads(7, {2, 3}, tmp_path) == {9: {0, 1, 2, 3}}


def test_masks_of_a_process_that_has_ended_are_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        thread_masks(7, tmp_path)
