from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.resources.procfs import kib_to_bytes, parse_cpu_list, read_int
from tests.boards import write_tree


@pytest.mark.parametrize(("text", "cpus"), [("0-3,6\n", {0, 1, 2, 3, 6}), ("5", {5}), ("", set()), ("0,2-2", {0, 2})])
def test_a_kernel_list_names_single_cores_and_ranges(text, cpus):
    assert parse_cpu_list(text) == cpus


@given(st.frozensets(st.integers(0, 4096), max_size=50))
def test_any_set_of_cores_written_one_by_one_reads_back(cpus):
    assert parse_cpu_list(",".join(map(str, sorted(cpus)))) == cpus


def test_a_list_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="invalid literal"):
        parse_cpu_list("ff,ff")


def test_a_missing_file_and_the_word_max_are_no_number(tmp_path):
    write_tree(tmp_path, {"memory.max": "max", "cpu_capacity": "414"})
    assert read_int(tmp_path / "memory.max") is None
    assert read_int(tmp_path / "nothing") is None
    assert read_int(tmp_path / "cpu_capacity") == 414


def test_proc_figures_are_kibibytes():
    assert kib_to_bytes("1740 kB") == 1740 * 1024
