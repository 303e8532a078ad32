"""Each rule broken alone, and each kept at its limit."""

from __future__ import annotations

import msgspec
import pytest

from edge_asr.bench.document import Violation
from edge_asr.bench.snapshot import Snapshot
from edge_asr.bench.validity import RunEvents, condition_figures, violations
from edge_asr.resources.cgroup import CpuThrottling
from edge_asr.resources.cpu_time import CpuTime, MachineCpuTime
from edge_asr.resources.frequency import FrequencyPolicy
from edge_asr.resources.paging import Paging
from edge_asr.resources.throttling import Throttle, Throttling


def at(second: int, **changes: object) -> Snapshot:
    """A healthy two-core machine after so many seconds, of which our process used half of everything."""
    busy = float(second)
    core = CpuTime(busy_s=busy / 2, idle_s=busy / 2, stolen_s=0)
    healthy = Snapshot(
        taken_ns=second * 10**9,
        throttling=Throttling(frozenset(), frozenset()),
        policies=(clock(1_800_000),),
        temperature_celsius=50.0,
        paging=Paging(0, 0, 100),
        machine_cpu=MachineCpuTime(CpuTime(busy, busy, 0), {0: core, 1: core}),
        tree_cpu_s=busy,
        cpu_throttling=CpuThrottling(0, 0.0),
    )
    return msgspec.structs.replace(healthy, **changes)


def clock(current_khz: int, governor: str = "performance", max_khz: int = 1_800_000, driver: str = "cpufreq-dt"):
    return FrequencyPolicy(frozenset({0, 1}), governor, driver, current_khz, 600_000, max_khz)


def bits(*names: Throttle, now: tuple[Throttle, ...] = ()) -> Throttling:
    return Throttling(frozenset(now), frozenset(names))


def machine(busy_s: float, idle_s: float, stolen_s: float = 0.0) -> MachineCpuTime:
    return MachineCpuTime(CpuTime(busy_s, idle_s, stolen_s), {})


def codes(found: tuple[Violation, ...]) -> list[str]:
    return [violation.code for violation in found]


def judge(*, before: Snapshot | None = None, during: Snapshot | None = None, after: Snapshot | None = None, **events):
    samples = () if during is None else (during,)
    return violations(before or at(0), samples, after or at(10), RunEvents(**events))


def test_a_quiet_run_on_a_healthy_board_counts():
    assert judge(during=at(5)) == ()


def test_a_machine_that_says_nothing_violates_nothing():
    assert violations(Snapshot(taken_ns=0), (), Snapshot(taken_ns=10**9)) == ()


def test_a_new_throttle_bit_spoils_the_run():
    (found,) = judge(after=at(10, throttling=bits("frequency_capped", "soft_temperature_limit")))
    assert found == Violation("throttled", "the firmware throttled the board: frequency capped, soft temperature limit")


def test_a_bit_that_was_set_before_says_nothing_about_this_run():
    old = bits("throttled", "under_voltage")
    assert judge(before=at(0, throttling=old), after=at(10, throttling=old)) == ()


def test_a_board_that_is_throttled_all_along_is_throttled():
    assert codes(judge(before=at(0, throttling=bits("throttled", now=("throttled",))),
                       during=at(5, throttling=bits("throttled", now=("throttled",))),
                       after=at(10, throttling=bits("throttled")))) == ["throttled"]  # fmt: skip


def test_under_voltage_has_its_own_name():
    assert codes(judge(after=at(10, throttling=bits("under_voltage")))) == ["under_voltage"]


def test_the_voltage_sensor_is_a_witness_too():
    unknown = at(0, throttling=None, under_voltage_alarm=False)
    found = judge(
        before=unknown, during=at(5, throttling=None, under_voltage_alarm=True), after=at(10, throttling=None)
    )
    assert codes(found) == ["under_voltage"]


def test_a_bit_that_nobody_could_read_before_is_not_called_new():
    assert judge(before=at(0, throttling=None), after=at(10, throttling=bits("throttled"))) == ()


def test_one_page_from_swap_spoils_the_run():
    (found,) = judge(after=at(10, paging=Paging(1, 0, 100)))
    assert (found.code, found.message) == ("swapped_in", "1 pages were read back from swap; none may be")


def test_major_faults_are_recorded_only():
    after = at(10, paging=Paging(0, 0, 350))
    assert judge(after=after) == ()
    assert condition_figures(at(0), (), after).major_faults == 250


def test_a_changed_governor_spoils_the_run():
    (found,) = judge(after=at(10, policies=(clock(1_800_000, governor="powersave"),)))
    assert found == Violation(
        "governor_changed", "the frequency governor was changed: performance before, powersave after"
    )


def test_a_clock_at_the_limit_is_still_good():
    assert judge(during=at(5, policies=(clock(1_710_000),))) == ()


def test_a_steady_clock_that_fell_spoils_the_run_although_it_recovered():
    (found,) = judge(during=at(5, policies=(clock(1_500_000),)))
    assert found == Violation(
        "frequency_dropped", "the clock fell to 83.3% of what it was at the start; at least 95% are needed"
    )


def test_a_governor_that_follows_the_load_may_lower_the_clock_in_a_pause():
    policies = [(clock(khz, governor="ondemand"),) for khz in (1_800_000, 600_000, 600_000)]
    assert judge(before=at(0, policies=policies[0]), during=at(5, policies=policies[1]),
                 after=at(10, policies=policies[2])) == ()  # fmt: skip


def busy_without_pause(second: int, khz: int, governor: str = "ondemand", driver: str = "cpufreq-dt") -> Snapshot:
    core = CpuTime(busy_s=float(second), idle_s=0, stolen_s=0)
    return at(
        second,
        policies=(clock(khz, governor=governor, driver=driver),),
        machine_cpu=MachineCpuTime(CpuTime(2.0 * second, 0, 0), {0: core, 1: core}),
        tree_cpu_s=2.0 * second,
    )


def test_a_clock_that_falls_while_a_core_is_busy_fell_for_another_reason():
    samples = (busy_without_pause(1, 1_800_000), busy_without_pause(2, 1_200_000))
    found = violations(busy_without_pause(0, 600_000), samples, busy_without_pause(3, 1_800_000))
    assert codes(found) == ["frequency_dropped"]


def test_the_clock_of_an_idle_board_at_the_start_is_no_measure_of_a_busy_one():
    samples = (busy_without_pause(1, 1_800_000),)
    assert violations(busy_without_pause(0, 600_000), samples, busy_without_pause(2, 1_800_000)) == ()


def test_a_processor_that_picks_its_own_clock_is_steady_in_name_only():
    idle = clock(800_000, driver="intel_pstate")
    assert judge(before=at(0, policies=(clock(3_000_000, driver="intel_pstate"),)), during=at(5, policies=(idle,)),
                 after=at(10, policies=(idle,))) == ()  # fmt: skip


def test_a_ceiling_that_the_kernel_lowered_against_heat_spoils_the_run():
    capped = (clock(600_000, governor="ondemand", max_khz=1_200_000),)
    before = at(0, policies=(clock(600_000, governor="ondemand"),))
    after = at(10, policies=(clock(600_000, governor="ondemand"),))
    assert codes(judge(before=before, during=at(5, policies=capped), after=after)) == ["frequency_dropped"]


def test_other_programs_may_take_five_in_a_hundred():
    at_the_limit = at(10, machine_cpu=machine(11, 9), tree_cpu_s=10.0)
    assert judge(after=at_the_limit) == ()
    assert condition_figures(at(0), (), at_the_limit).foreign_share == 0.05


def test_other_programs_that_take_more_spoil_the_run():
    (found,) = judge(after=at(10, machine_cpu=machine(14, 6), tree_cpu_s=10.0))
    assert found == Violation("foreign_load", "other programs took 20.0% of the CPU time; at most 5% are allowed")


def test_our_own_account_that_is_a_tick_ahead_is_no_negative_load():
    after = at(10, machine_cpu=machine(10, 10), tree_cpu_s=10.01)
    assert condition_figures(at(0), (), after).foreign_share == 0


def test_stolen_time_spoils_the_run_from_two_in_a_hundred():
    assert judge(after=at(10, machine_cpu=machine(10, 9.6, 0.4))) == ()
    (found,) = judge(after=at(10, machine_cpu=machine(10, 9, 1.0)))
    assert found == Violation("stolen_time", "the host took 5.0% of the CPU time; at most 2% are allowed")


def test_a_cpu_quota_that_bit_spoils_the_run():
    (found,) = judge(after=at(10, cpu_throttling=CpuThrottling(4, 1.25)))
    assert found == Violation("quota_throttled", "the CPU quota of a control group stopped us 4 times, 1.25 s in all")


def test_a_provider_that_fell_back_spoils_the_run():
    (found,) = judge(provider_requested="cuda", provider_used="cpu")
    assert found == Violation("provider_fell_back", "the provider fell back: 'cpu' ran instead of 'cuda'")


@pytest.mark.parametrize(("jitter_ms", "expected"), [(5.0, []), (7.0, ["feeder_late"])])
def test_a_feeder_may_be_late_by_five_in_a_hundred_of_a_chunk(jitter_ms, expected):
    assert codes(judge(feeder_jitter_ms=jitter_ms, chunk_ms=100.0)) == expected


def test_there_is_no_jitter_without_pacing():
    assert judge(feeder_jitter_ms=50.0) == ()


def test_a_child_that_died_spoils_the_run():
    (found,) = judge(child_exit="killed by SIGKILL")
    assert found == Violation("child_died", "a measured process ended before its time: killed by SIGKILL")


def test_heat_is_recorded_and_judges_nothing():
    samples = (at(5, temperature_celsius=83.0),)
    assert violations(at(0), samples, at(10)) == ()
    figures = condition_figures(at(0), samples, at(10))
    assert (figures.temperature_start_celsius, figures.temperature_max_celsius) == (50.0, 83.0)


def test_figures_of_the_clock_are_those_of_all_readings():
    samples = (at(5, policies=(clock(1_700_000),)),)
    figures = condition_figures(at(0), samples, at(10))
    assert (figures.frequency_min_khz, figures.frequency_median_khz) == (1_700_000, 1_800_000)
    assert figures.lowest_frequency_ratio == pytest.approx(17 / 18)


def test_memory_during_the_run_counts_and_that_before_it_does_not():
    figures = condition_figures(
        at(0, resident_bytes=900, peak_resident_bytes=900),
        (at(5, resident_bytes=300, peak_resident_bytes=350),),
        at(10, resident_bytes=200, peak_resident_bytes=350, group_peak_bytes=700),
    )
    assert (figures.resident_max_bytes, figures.peak_resident_bytes, figures.group_peak_bytes) == (300, 350, 700)


def test_several_reasons_are_all_named():
    after = at(10, throttling=bits("throttled", "under_voltage"), paging=Paging(5, 0, 100))
    assert codes(judge(after=after, child_exit="exit status 1")) == [
        "throttled",
        "under_voltage",
        "swapped_in",
        "child_died",
    ]
