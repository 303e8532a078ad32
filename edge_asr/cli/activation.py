"""Who carries out an activation: the daemon that runs on this machine, or this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from edge_asr.cli.admin_socket import AdminClient, running_daemon
from edge_asr.cli.messages import remark
from edge_asr.cli.vigil import Reading, Vigil
from edge_asr.errors import GateFailed, ModelUnsupported
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.settings import Settings
from edge_asr.store.digest import check_files
from edge_asr.store.inspect import inspect_model
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.workers.models import recognises_speech, served
from edge_asr.workers.pool import Pool
from edge_asr.workers.trial import ModelTrial

_LOOK_EVERY_S = 1.0


def daemon_of_this_store(store: ModelStore, setting: str) -> AdminClient | None:
    """The running daemon, if it keeps its models where this command does.

    Args:
        store: The store of this command.
        setting: ``server.admin_socket``.
    """
    daemon = running_daemon(setting, os.environ)
    if daemon is None or not os.environ.get("EDGE_ASR_HOME"):
        return daemon
    home, theirs = store.writable_root, daemon.describe()["store"]
    if theirs and Path(theirs).resolve() == home.resolve():
        return daemon
    remark(f"the running daemon keeps its models in {theirs or 'a store it cannot write'}; {home} is none of its")
    return None


def watch(daemon: AdminClient, seconds: float, now_s: Callable[[], float], sleep: Callable[[float], None]) -> None:
    """Look at a daemon whose model has just been changed, once a second, and take the change back when it fails.

    Args:
        daemon: Serves the new model.
        seconds: How long.
        now_s: A monotonic clock, seconds.
        sleep: Waits so many seconds.

    Raises:
        GateFailed: The daemon serves the model before again, for the reason in the sentence.
    """
    vigil = Vigil(Reading.of(daemon.describe()))
    until_s = now_s() + seconds
    while now_s() < until_s:
        sleep(_LOOK_EVERY_S)
        if fault := vigil.fault(Reading.of(daemon.describe())):
            before = daemon.rollback()["active"]
            raise GateFailed(f"model {vigil.first.model!r} was taken back: {fault}; {before} serves again")


def activate_here(store: ModelStore, name: str, settings: Settings, max_wer: float) -> None:
    """Say why a model must not become the active one: in a worker such as the daemon would have, ended afterwards.

    Args:
        store: Where it is installed.
        name: Store name.
        settings: How it would be served.
        max_wer: Highest word error rate on the bundled recordings; from 1 on words are not judged.

    Raises:
        ModelError: It is not installed, damaged, cannot be loaded, or ends the process that does.
        MachineError: The machine cannot run it.
        GateFailed: It misunderstands the recordings, or takes too much memory.
    """
    model = store.find(name)
    if not recognises_speech(model):
        raise ModelUnsupported(name, "it does not recognise speech, so it cannot be the active model")
    check_files(model.manifest, model.directory)
    inspect_model(model.directory, model.manifest)
    asyncio.run(_try_out(store, model, settings, max_wer))


async def _try_out(store: ModelStore, model: InstalledModel, settings: Settings, max_wer: float) -> None:
    pool = Pool(served(store, model, settings), Instruments(new_registry()))
    trial = ModelTrial(pool, max_wer)
    try:
        await pool.start()
        await trial(pool.active_place)
    finally:
        await pool.close(0)
    remark(str(trial.report))
