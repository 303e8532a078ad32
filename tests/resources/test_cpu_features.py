from __future__ import annotations

import pytest

from edge_asr.resources.cpu_features import CpuFeatures, common_features, read_processors
from tests.boards import raspberry_pi_3, raspberry_pi_4, raspberry_pi_5, rk3588, write_tree, x86_server


def features(root) -> CpuFeatures:
    common = common_features(read_processors(root))
    assert common is not None
    return common


@pytest.mark.parametrize(
    ("board", "names"),
    [
        (raspberry_pi_3, {"Cortex-A53"}),
        (raspberry_pi_4, {"Cortex-A72"}),
        (raspberry_pi_5, {"Cortex-A76"}),
        (rk3588, {"Cortex-A55", "Cortex-A76"}),
        (x86_server, {"Intel(R) Xeon(R) Gold 6226R CPU @ 2.90GHz"}),
    ],
)
def test_cores_are_called_by_their_design(board, names, tmp_path):
    assert {processor.name for processor in read_processors(board(tmp_path))} == names


@pytest.mark.parametrize("board", [raspberry_pi_3, raspberry_pi_4])
def test_older_cores_have_no_dot_product(board, tmp_path):
    assert not features(board(tmp_path)).dot_product


@pytest.mark.parametrize("board", [raspberry_pi_5, rk3588, x86_server])
def test_newer_cores_have_it(board, tmp_path):
    assert features(board(tmp_path)).dot_product


def test_an_a76_has_half_precision_and_no_matrix_products(tmp_path):
    found = features(raspberry_pi_5(tmp_path))
    assert found.half_precision
    assert not found.matrix_multiply


def test_a_feature_that_one_core_lacks_is_not_common(tmp_path):
    write_tree(tmp_path, {"proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimddp\n\nprocessor\t: 1\nFeatures\t: fp\n"})
    assert features(tmp_path).names == ("fp",)
    assert not features(tmp_path).dot_product


def test_matrix_products_are_called_otherwise_on_each_architecture(tmp_path):
    for name in ("i8mm", "amx_int8"):
        write_tree(tmp_path, {"proc/cpuinfo": f"processor : 0\nflags : fpu {name}"})
        assert features(tmp_path).matrix_multiply


def test_a_machine_that_lists_no_core_has_unknown_features(tmp_path):
    assert common_features(read_processors(tmp_path)) is None
