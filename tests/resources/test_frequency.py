from __future__ import annotations

from edge_asr.resources.frequency import FrequencyPolicy, read_policies
from tests.boards import raspberry_pi_4, rk3588, virtual_machine, write_tree, x86_server

POLICY = "sys/devices/system/cpu/cpufreq/policy0"


def test_a_raspberry_pi_has_one_clock(tmp_path):
    assert read_policies(raspberry_pi_4(tmp_path)) == (
        FrequencyPolicy(
            cpus=frozenset({0, 1, 2, 3}),
            governor="ondemand",
            driver="cpufreq-dt",
            current_khz=600_000,
            min_khz=600_000,
            max_khz=1_800_000,
        ),
    )


def test_an_rk3588_has_three_clocks_in_the_order_of_their_cores(tmp_path):
    policies = read_policies(rk3588(tmp_path))
    assert [min(policy.cpus) for policy in policies] == [0, 4, 6]
    assert [policy.max_khz for policy in policies] == [1_800_000, 2_304_000, 2_352_000]


def test_every_thread_of_an_x86_server_has_its_own(tmp_path):
    assert [policy.cpus for policy in read_policies(x86_server(tmp_path))] == [{cpu} for cpu in range(8)]


def test_what_the_hardware_measured_counts_more_than_what_the_kernel_asked_for(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {f"{POLICY}/cpuinfo_cur_freq": "1500000"})
    assert read_policies(tmp_path)[0].current_khz == 1_500_000


def test_a_group_whose_cores_are_all_offline_is_left_out(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {f"{POLICY}/affected_cpus": ""})
    assert read_policies(tmp_path) == ()


def test_a_virtual_machine_scales_no_frequency(tmp_path):
    assert read_policies(virtual_machine(tmp_path)) == ()
