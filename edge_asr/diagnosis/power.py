"""Power supply, heat and clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edge_asr.diagnosis.finding import Finding
from edge_asr.resources.frequency import FrequencyPolicy
from edge_asr.resources.throttling import Throttling

HOT_CELSIUS = 80.0
"""A Raspberry Pi begins to lower its clock here (85 at the latest); other boards have similar limits."""

_HEAT = frozenset({"frequency_capped", "throttled", "soft_temperature_limit"})
_SELF_CLOCKED_DRIVERS = frozenset({"intel_pstate", "amd-pstate-epp"})
"""Their "powersave" is the everyday governor and reaches every frequency."""


def power_findings(throttling: Throttling | None, under_voltage_alarm: bool | None) -> Iterator[Finding]:
    """The firmware's account of the supply and of heat; nothing on machines that give none."""
    if throttling is None and under_voltage_alarm is None:
        return
    past = throttling.since_boot if throttling else frozenset()
    now = throttling.now if throttling else frozenset()
    if "under_voltage" in past | now or under_voltage_alarm:
        when = "now" if "under_voltage" in now or under_voltage_alarm else "since it was started"
        yield Finding(
            "warning",
            "under_voltage",
            f"the supply voltage of this board fell too low {when}",
            "the firmware lowers the clock then, cards and USB devices fail, and measurements do not count",
            "use the supply made for the board (5.1 V; 3 A for a Pi 4, 5 A for a Pi 5) and a short, thick cable",
        )
    if heat := (past | now) & _HEAT - ({"throttled", "frequency_capped"} if "under_voltage" in past else set()):
        when = "now" if heat & now else "since it was started"
        yield Finding(
            "warning",
            "throttled",
            f"the firmware slowed this board down {when} ({', '.join(sorted(heat)).replace('_', ' ')})",
            "a board that keeps up when cold may fall behind when hot",
            "fit a heat sink or a fan, or run with fewer threads; then restart the board, which clears this memory",
        )
    if not past | now and not under_voltage_alarm:
        yield Finding("ok", "power", "power supply and heat were always in order since the board was started")


def temperature_findings(celsius: float | None) -> Iterator[Finding]:
    """The hottest sensor; nothing on machines without one."""
    if celsius is None:
        return
    if celsius >= HOT_CELSIUS:
        yield Finding(
            "warning",
            "hot",
            f"the hottest sensor reads {celsius:.0f} °C",
            "the clock is lowered from about here on",
            "fit a heat sink or a fan, or find out with `top` what keeps the board busy",
        )
    else:
        yield Finding("ok", "temperature", f"the hottest sensor reads {celsius:.0f} °C")


def governor_findings(policies: Sequence[FrequencyPolicy]) -> Iterator[Finding]:
    """How the clock follows the load; nothing where the kernel scales no frequency."""
    governors = sorted({policy.governor for policy in policies if policy.governor})
    if not governors:
        return
    names = ", ".join(governors)
    if any(policy.governor == "powersave" and policy.driver not in _SELF_CLOCKED_DRIVERS for policy in policies):
        yield Finding(
            "warning",
            "governor_powersave",
            "the frequency governor is powersave",
            "the cores stay at their lowest frequency whatever the load",
            "echo schedutil | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        )
    elif governors == ["performance"]:
        yield Finding("ok", "governor", "the frequency governor is performance")
    else:
        yield Finding(
            "info",
            "governor_follows_load",
            f"the frequency governor is {names}",
            "the clock follows the load, so that the first chunk after a pause takes longer and measurements vary",
            "for steady latency: echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        )
