"""Which configurations a bench measures."""

import pytest

from edge_asr.bench.sweep import Sweep, parse_cores, parse_numbers
from edge_asr.errors import ConfigurationError
from edge_asr.resources.topology import Core, Topology


def topology(*cpus: int) -> Topology:
    return Topology(tuple(Core(cpu, 0, 0, frozenset({cpu})) for cpu in cpus))


def test_one_of_everything_is_one_configuration():
    (only,) = Sweep(modes=["paced"]).configurations("starter-en", topology(0, 1))
    assert (only.model, only.mode, only.threads, only.cpus, only.streams) == ("starter-en", "paced", 1, (0, 1), 1)


def test_every_combination_is_measured_once():
    sweep = Sweep(
        modes=["throughput", "paced"],
        providers=["cpu", "xnnpack"],
        threads=[1, 2],
        cpus=[(0,), (0, 1)],
        streams=[1, 4],
        pieces_ms=[60, 1000],
        batches=[1, 16],
        windows_ms=[0, 20],
        spinning=[False, True],
    )
    found = list(sweep.configurations("starter-en", topology(0, 1, 2, 3)))
    assert len(found) == len(set(found)) == 2**9


def test_second_passes_are_tried_one_after_the_other():
    found = Sweep(modes=["throughput", "paced"]).configurations("starter-en", topology(0), ("", "better"))
    assert [(each.second_pass, each.mode) for each in found] == [
        ("", "throughput"),
        ("", "paced"),
        ("better", "throughput"),
        ("better", "paced"),
    ]


def test_modes_of_one_setting_lie_beside_each_other():
    found = list(Sweep(modes=["throughput", "paced"], streams=[1, 2]).configurations("starter-en", topology(0)))
    assert [(each.streams, each.mode) for each in found] == [
        (1, "throughput"),
        (1, "paced"),
        (2, "throughput"),
        (2, "paced"),
    ]


def test_cores_follow_the_threads_where_none_are_named():
    fast, slow = [Core(cpu, 1024, 0, frozenset({cpu})) for cpu in (4, 5)], Core(0, 400, 0, frozenset({0}))
    found = Sweep(modes=["paced"], threads=[1, 2, 3]).configurations("starter-en", Topology((slow, *fast)))
    assert [each.cpus for each in found] == [(4, 5), (4, 5), (0, 4, 5)]


def test_a_core_that_is_not_ours_is_refused():
    with pytest.raises(ConfigurationError, match="core 7 is not one this process may use; those are: 0, 1"):
        list(Sweep(modes=["paced"], cpus=[(0, 7)]).configurations("starter-en", topology(0, 1)))


@pytest.mark.parametrize(("text", "numbers"), [("1", (1,)), ("1,2,4", (1, 2, 4)), (" 4 , 1,4", (4, 1))])
def test_numbers_are_read_in_order_and_once(text, numbers):
    assert parse_numbers(text, "--threads", 1, 64) == numbers


@pytest.mark.parametrize("text", ["", "1,", "x", "0", "65", "-1", "1.5", "²"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ConfigurationError, match="--threads"):
        parse_numbers(text, "--threads", 1, 64)


@pytest.mark.parametrize(("text", "cpus"), [("0", (0,)), ("0-2", (0, 1, 2)), ("4,1", (1, 4)), ("0,2-3", (0, 2, 3))])
def test_cores_are_read_like_the_kernel_writes_them(text, cpus):
    assert parse_cores(text) == cpus


@pytest.mark.parametrize("text", ["", "big", "3-", "-1"])
def test_what_is_no_list_of_cores_is_refused(text):
    with pytest.raises(ConfigurationError, match="--cpus"):
        parse_cores(text)
