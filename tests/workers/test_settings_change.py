from __future__ import annotations

from dataclasses import replace

import pytest

from edge_asr.settings import (
    AdmissionSettings,
    EndpointSettings,
    EngineSettings,
    LimitSettings,
    LogSettings,
    ServerSettings,
    Settings,
    TextSettings,
    WakeSettings,
    WorkerSettings,
)
from edge_asr.workers.settings_change import compare

OLD = Settings()


def test_equal_settings_have_not_changed():
    change = compare(OLD, Settings())
    assert (change.applied, change.needs_restart, change.held) == ((), (), OLD)


@pytest.mark.parametrize(
    ("new", "path"),
    [
        (Settings(model="other"), "model"),
        (Settings(engine=EngineSettings(threads=2)), "engine.threads"),
        (Settings(endpoint=EndpointSettings(silence_ms=500)), "endpoint.silence_ms"),
        (Settings(worker=WorkerSettings(count=2)), "worker.count"),
        (Settings(worker=WorkerSettings(idle_unload_s=60)), "worker.idle_unload_s"),
        (Settings(limits=LimitSettings(max_sessions=3)), "limits.max_sessions"),
        (Settings(text=TextSettings(itn=True)), "text.itn"),
        (Settings(wake=WakeSettings(phrases=("hello",))), "wake.phrases"),
        (Settings(log=LogSettings(level="error")), "log.level"),
    ],
)
def test_what_can_change_while_sessions_run_is_applied(new, path):
    change = compare(OLD, new)
    assert (change.applied, change.needs_restart, change.held) == ((path,), (), new)


@pytest.mark.parametrize(
    ("new", "path"),
    [
        (Settings(server=ServerSettings(port=1)), "server.port"),
        (Settings(limits=LimitSettings(idle_timeout_s=1)), "limits.idle_timeout_s"),
        (Settings(admission=AdmissionSettings(max_load=0.5)), "admission.max_load"),
    ],
)
def test_what_the_doors_hold_needs_a_restart_and_is_told_again_next_time(new, path):
    change = compare(OLD, new)
    assert (change.applied, change.needs_restart, change.held) == ((), (path,), OLD)


def test_of_two_changes_in_one_group_each_goes_its_way():
    new = Settings(limits=LimitSettings(max_sessions=3, idle_timeout_s=1))
    change = compare(OLD, new)
    assert (change.applied, change.needs_restart) == (("limits.max_sessions",), ("limits.idle_timeout_s",))
    assert change.held == replace(OLD, limits=LimitSettings(max_sessions=3))
