from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from edge_asr.clock import Clock
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.settings import LimitSettings, SchedulerSettings, Settings, WorkerSettings
from edge_asr.workers.models import Models
from edge_asr.workers.pool import Pool
from tests.workers import scripted

FAST = Settings(
    worker=WorkerSettings(restart_delay_s=0.0, max_restart_delay_s=600.0),
    scheduler=SchedulerSettings(backlog_s=1.0),
    limits=LimitSettings(max_sessions=4),
)
"""Restarts at once after a death; after a failed load not while a test runs."""


@pytest.fixture
def registry():
    return new_registry()


@pytest.fixture
async def make_pool(tmp_path, registry):
    """Pools of real worker processes with a scripted engine; ended after the test."""
    pools: list[Pool] = []

    def make(loader: str = "load", models: Models | None = None, clock: Clock | None = None, **groups: Any) -> Pool:
        model = scripted.model(tmp_path, replace(FAST, **groups))
        name = f"{scripted.MODULE}:{loader}"
        pools.append(Pool(model, Instruments(registry), models=models, loader=name, clock=clock))
        return pools[-1]

    yield make
    for pool in pools:
        await pool.close(0)


@pytest.fixture
async def pool(make_pool):
    """A pool that is ready."""
    made = make_pool()
    await made.start()
    return made
