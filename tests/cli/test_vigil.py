"""What makes one take a change of model back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from edge_asr.cli.activation import watch
from edge_asr.cli.vigil import Reading, Vigil
from edge_asr.errors import GateFailed

FIRST = Reading(model="new", state="ready", restarts=3, live_steps=1000, late_steps=500)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, ""),
        ({"state": "failed"}, "its worker cannot be started"),
        ({"restarts": 4}, "its worker had to be replaced"),
        ({"live_steps": 1200, "late_steps": 502}, ""),
        ({"live_steps": 1200, "late_steps": 503}, "3 of 200 live steps were late"),
        ({"live_steps": 1099, "late_steps": 599}, ""),
        ({"model": "other", "restarts": 9}, ""),
    ],
)
def test_faults(change, fault) -> None:
    assert Vigil(FIRST).fault(replace(FIRST, **change)) == fault


class ToldDaemon:
    """Describes itself as it is told, one description after the other."""

    def __init__(self, *descriptions: dict[str, Any]) -> None:
        self._descriptions = list(descriptions)
        self.looks = 0
        self.was_rolled_back = False

    def describe(self) -> dict[str, Any]:
        self.looks += 1
        base = {"model": "new", "state": "ready", "restarts": 0, "live_steps": 0, "late_steps": 0}
        return base | (self._descriptions.pop(0) if self._descriptions else {})

    def rollback(self) -> dict[str, Any]:
        self.was_rolled_back = True
        return {"active": "old"}


class SleepClock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def watched(daemon: ToldDaemon, seconds: float) -> None:
    clock = SleepClock()
    watch(daemon, seconds, lambda: clock.now_s, clock.sleep)  # type: ignore[arg-type]


def test_a_daemon_that_does_well_keeps_the_model() -> None:
    daemon = ToldDaemon()
    watched(daemon, 5)
    assert (daemon.looks, daemon.was_rolled_back) == (6, False)


def test_a_daemon_whose_worker_ends_gets_the_model_before() -> None:
    daemon = ToldDaemon({}, {}, {"restarts": 1})
    with pytest.raises(GateFailed, match="model 'new' was taken back: its worker had to be replaced; old serves again"):
        watched(daemon, 60)
    assert (daemon.looks, daemon.was_rolled_back) == (3, True)
