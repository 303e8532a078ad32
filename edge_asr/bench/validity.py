"""The judge of a run: readings in, figures and violations out. Pure; every rule and its limit stands here.

A run with a violation is kept and shown, marked invalid, and is never a verdict. What a machine does not say violates
nothing. Temperature is recorded and judges nothing: a hot board that kept its clock measured rightly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

import msgspec

from edge_asr.bench.document import Violation
from edge_asr.bench.snapshot import Snapshot
from edge_asr.resources.cpu_time import CpuTime
from edge_asr.resources.frequency import FrequencyPolicy

LOWEST_FREQUENCY_RATIO = 0.95
"""Of the frequency at the start."""
HIGHEST_FOREIGN_SHARE = 0.05
"""Of the machine's CPU time."""
HIGHEST_STOLEN_SHARE = 0.02
"""Of the machine's CPU time."""
HIGHEST_JITTER_RATIO = 0.05
"""Of the chunk."""
_BUSY_SHARE = 0.9
"""From this on a core had no pause in which its governor could rightly lower the clock."""
_STEADY_GOVERNORS = frozenset({"performance", "userspace"})
_SELF_CLOCKED_DRIVERS = frozenset({"intel_pstate", "amd-pstate-epp"})
"""Here the processor picks its own clock, whatever the governor is called."""


class RunEvents(msgspec.Struct, frozen=True, kw_only=True):
    """What only the runner knows of its run."""

    provider_requested: str = "cpu"
    provider_used: str = "cpu"
    feeder_jitter_ms: float = 0.0
    """The latest wake-up of the paced feeder; 0 in throughput mode."""
    chunk_ms: float = 0.0
    """The feeder's period; 0 in throughput mode."""
    child_exit: str | None = None
    """How a child process ended before its time, in words; ``None`` when none did."""


class ConditionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions of a run in figures; ``None`` where the machine does not say."""

    duration_s: float
    new_throttle_bits: tuple[str, ...] | None
    """Those since boot that were not set before, and those in force during the run."""
    under_voltage: bool | None
    swapped_in_pages: int | None
    major_faults: int | None
    governors_before: tuple[str, ...]
    governors_after: tuple[str, ...]
    lowest_frequency_ratio: float | None
    """Of the frequency at the start; only where a governor had no reason to lower it."""
    frequency_min_khz: int | None
    """Lowest reading of any core."""
    frequency_median_khz: float | None
    machine_cpu_s: float | None
    """What all cores had to give: busy, idle and stolen."""
    tree_cpu_s: float | None
    """What our processes used."""
    foreign_share: float | None
    """Busy time of everything else, of what all cores had to give."""
    stolen_share: float | None
    quota_throttled_periods: int | None
    quota_throttled_s: float | None
    temperature_start_celsius: float | None
    temperature_max_celsius: float | None
    resident_max_bytes: int | None
    peak_resident_bytes: int | None
    group_peak_bytes: int | None
    feeder_jitter_ms: float
    feeder_jitter_ratio: float | None
    """Of the chunk; ``None`` in throughput mode."""


def condition_figures(
    before: Snapshot, samples: Sequence[Snapshot], after: Snapshot, events: RunEvents | None = None
) -> ConditionFigures:
    """The figures of a run, for its report."""
    events = events or RunEvents()
    during = (*samples, after)
    everything = (before, *during)
    used = _used(before, after)
    tree_cpu_s = _difference(before.tree_cpu_s, after.tree_cpu_s)
    frequencies = [khz for each in everything for policy in each.policies if (khz := policy.current_khz)]
    temperatures = [celsius for each in everything if (celsius := each.temperature_celsius) is not None]
    paging = (before.paging, after.paging)
    quota = (before.cpu_throttling, after.cpu_throttling)
    return ConditionFigures(
        duration_s=(after.taken_ns - before.taken_ns) / 1e9,
        new_throttle_bits=_new_throttle_bits(before, during),
        under_voltage=_under_voltage(before, during),
        swapped_in_pages=paging[1].swapped_in_pages - paging[0].swapped_in_pages if paging[0] and paging[1] else None,
        major_faults=paging[1].major_faults - paging[0].major_faults if paging[0] and paging[1] else None,
        governors_before=_governors(before),
        governors_after=_governors(after),
        lowest_frequency_ratio=_lowest_frequency_ratio(everything),
        frequency_min_khz=min(frequencies, default=None),
        frequency_median_khz=median(frequencies) if frequencies else None,
        machine_cpu_s=used.total_s if used else None,
        tree_cpu_s=tree_cpu_s,
        foreign_share=_share(used.busy_s - tree_cpu_s, used) if used and tree_cpu_s is not None else None,
        stolen_share=_share(used.stolen_s, used) if used else None,
        quota_throttled_periods=quota[1].periods - quota[0].periods if quota[0] and quota[1] else None,
        quota_throttled_s=quota[1].stopped_s - quota[0].stopped_s if quota[0] and quota[1] else None,
        temperature_start_celsius=before.temperature_celsius,
        temperature_max_celsius=max(temperatures, default=None),
        resident_max_bytes=max((each.resident_bytes for each in during if each.resident_bytes), default=None),
        peak_resident_bytes=max(
            (each.peak_resident_bytes for each in during if each.peak_resident_bytes), default=None
        ),
        group_peak_bytes=after.group_peak_bytes,
        feeder_jitter_ms=events.feeder_jitter_ms,
        feeder_jitter_ratio=events.feeder_jitter_ms / events.chunk_ms if events.chunk_ms else None,
    )


def violations(
    before: Snapshot, samples: Sequence[Snapshot], after: Snapshot, events: RunEvents | None = None
) -> tuple[Violation, ...]:
    """Why this run does not count; empty when it does.

    Args:
        before: Taken just before the run.
        samples: Taken during it, in order.
        after: Taken just after it.
        events: What the runner saw itself.

    Returns:
        One for each rule broken, with its code: ``throttled``, ``under_voltage``, ``governor_changed``,
        ``frequency_dropped``, ``swapped_in``, ``foreign_load``, ``stolen_time``, ``quota_throttled``,
        ``provider_fell_back``, ``feeder_late``, ``child_died``.
    """
    events = events or RunEvents()
    figures = condition_figures(before, samples, after, events)
    return (*_of_the_board(figures), *_of_the_neighbours(figures), *_of_the_run(figures, events))


def _of_the_board(figures: ConditionFigures) -> Iterator[Violation]:
    """Power, heat and clock."""
    if bits := set(figures.new_throttle_bits or ()) - {"under_voltage"}:
        yield Violation("throttled", f"the firmware throttled the board: {_words(bits)}")
    if figures.under_voltage:
        yield Violation("under_voltage", "the supply voltage fell too low")
    if figures.governors_before != figures.governors_after:
        change = f"{_words(figures.governors_before)} before, {_words(figures.governors_after)} after"
        yield Violation("governor_changed", f"the frequency governor was changed: {change}")
    ratio = figures.lowest_frequency_ratio
    if ratio is not None and ratio < LOWEST_FREQUENCY_RATIO:
        limit = f"at least {LOWEST_FREQUENCY_RATIO:.0%} are needed"
        yield Violation("frequency_dropped", f"the clock fell to {ratio:.1%} of what it was at the start; {limit}")


def _of_the_neighbours(figures: ConditionFigures) -> Iterator[Violation]:
    """What others took from us: other programs, other virtual machines, a quota, a full memory."""
    if figures.swapped_in_pages:
        yield Violation("swapped_in", f"{figures.swapped_in_pages} pages were read back from swap; none may be")
    if figures.foreign_share is not None and figures.foreign_share > HIGHEST_FOREIGN_SHARE:
        limit = f"at most {HIGHEST_FOREIGN_SHARE:.0%} are allowed"
        yield Violation("foreign_load", f"other programs took {figures.foreign_share:.1%} of the CPU time; {limit}")
    if figures.stolen_share is not None and figures.stolen_share > HIGHEST_STOLEN_SHARE:
        limit = f"at most {HIGHEST_STOLEN_SHARE:.0%} are allowed"
        yield Violation("stolen_time", f"the host took {figures.stolen_share:.1%} of the CPU time; {limit}")
    if figures.quota_throttled_periods:
        stopped = f"{figures.quota_throttled_periods} times, {figures.quota_throttled_s:.2f} s in all"
        yield Violation("quota_throttled", f"the CPU quota of a control group stopped us {stopped}")


def _of_the_run(figures: ConditionFigures, events: RunEvents) -> Iterator[Violation]:
    """What went wrong with the run itself."""
    if events.provider_used != events.provider_requested:
        change = f"{events.provider_used!r} ran instead of {events.provider_requested!r}"
        yield Violation("provider_fell_back", f"the provider fell back: {change}")
    jitter = figures.feeder_jitter_ratio
    if jitter is not None and jitter > HIGHEST_JITTER_RATIO:
        late = f"{figures.feeder_jitter_ms:.1f} ms, {jitter:.1%} of a chunk"
        yield Violation(
            "feeder_late", f"the feeder woke up late by {late}; at most {HIGHEST_JITTER_RATIO:.0%} are allowed"
        )
    if events.child_exit is not None:
        yield Violation("child_died", f"a measured process ended before its time: {events.child_exit}")


def _new_throttle_bits(before: Snapshot, during: Sequence[Snapshot]) -> tuple[str, ...] | None:
    words = [each.throttling for each in during if each.throttling is not None]
    if before.throttling is None or not words:
        return None
    in_force = frozenset[str]().union(*(word.now for word in words))
    new = frozenset[str]().union(*(word.since_boot for word in words)) - before.throttling.since_boot
    return tuple(sorted(in_force | new))


def _under_voltage(before: Snapshot, during: Sequence[Snapshot]) -> bool | None:
    bits = _new_throttle_bits(before, during)
    alarms = [each.under_voltage_alarm for each in during if each.under_voltage_alarm is not None]
    if bits is None and not alarms:
        return None
    return "under_voltage" in (bits or ()) or any(alarms)


def _governors(snapshot: Snapshot) -> tuple[str, ...]:
    """By policy, so that a change on one cluster shows."""
    return tuple(policy.governor for policy in snapshot.policies if policy.governor)


def _lowest_frequency_ratio(everything: Sequence[Snapshot]) -> float | None:
    """The worst of all policies: of the ceiling, and of the clock where it had no reason to fall."""
    ratios = [
        ratio
        for first in everything[0].policies
        for ratio in (*_ceiling_ratios(first, everything), *_clock_ratios(first, everything))
    ]
    return min(ratios, default=None)


def _ceiling_ratios(first: FrequencyPolicy, everything: Iterable[Snapshot]) -> Iterator[float]:
    """The kernel's thermal code takes heat off by lowering the highest frequency that a governor may choose."""
    for policy in _same_policy(first, everything):
        if first.max_khz and policy.max_khz:
            yield policy.max_khz / first.max_khz


def _clock_ratios(first: FrequencyPolicy, everything: Sequence[Snapshot]) -> Iterator[float]:
    """The clock itself: always under a steady governor, else only between readings that left no pause."""
    is_steady = first.governor in _STEADY_GOVERNORS and first.driver not in _SELF_CLOCKED_DRIVERS
    judged = (
        everything if is_steady else [late for early, late in pairwise(everything) if _kept_busy(first, early, late)]
    )
    clocks = [policy.current_khz for policy in _same_policy(first, judged) if policy.current_khz]
    for clock in clocks[1:]:
        yield clock / clocks[0]


def _same_policy(first: FrequencyPolicy, snapshots: Iterable[Snapshot]) -> Iterator[FrequencyPolicy]:
    return (policy for each in snapshots for policy in each.policies if policy.cpus == first.cpus)


def _kept_busy(policy: FrequencyPolicy, early: Snapshot, late: Snapshot) -> bool:
    """Whether some core of the policy worked without pause between two readings."""
    if early.machine_cpu is None or late.machine_cpu is None:
        return False
    cores = (cpu for cpu in policy.cpus if cpu in early.machine_cpu.cores and cpu in late.machine_cpu.cores)
    used = (late.machine_cpu.cores[cpu].since(early.machine_cpu.cores[cpu]) for cpu in cores)
    return any(time.total_s > 0 and time.busy_s / time.total_s >= _BUSY_SHARE for time in used)


def _used(before: Snapshot, after: Snapshot) -> CpuTime | None:
    if before.machine_cpu is None or after.machine_cpu is None:
        return None
    return after.machine_cpu.total.since(before.machine_cpu.total)


def _difference(early: float | None, late: float | None) -> float | None:
    return None if early is None or late is None else late - early


def _share(part_s: float, whole: CpuTime) -> float:
    # The two accounts are read one after the other, so that a quiet machine may come out a tick below nothing.
    return max(0.0, part_s) / whole.total_s if whole.total_s else 0.0


def _words(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names))).replace("_", " ") or "none"
