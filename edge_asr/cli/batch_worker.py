"""What a Dask worker runs: a loaded model for as long as the process lives, whatever number of recordings it hears."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import msgspec

from edge_asr import __version__
from edge_asr.batch.hearing import Hearer
from edge_asr.batch.messages import Done, Order, Task, Unfit, Unusable
from edge_asr.batch.order import digests_of
from edge_asr.cli.stores import open_store
from edge_asr.errors import EdgeAsrError, ModelError, ModelNotFound
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.store.voice_activity import installed_vad
from edge_asr.workers.models import installed_punctuation

_lock = threading.Lock()
"""One recording at a time, whatever number of threads the worker has: a decoding state belongs to one thread."""

_loaded: list[tuple[Order, Hearer]] = []
"""None, or the one that was used last."""


def hear_here(order: Order, task: Task) -> Done | Unusable | Unfit:
    """Hear one recording in this process, with the model that is loaded if it is the right one."""
    with _lock:
        try:
            hearer = _hearer(order)
        except EdgeAsrError as error:
            return Unfit(error.code, f"worker on {os.uname().nodename}: {error}")
        return hearer.hear(task)


def _hearer(order: Order) -> Hearer:
    if not _loaded or _loaded[0][0] != order:
        _loaded.clear()  # before loading: two do not fit everywhere
        _loaded.append((order, Hearer(_at_home(order))))
    return _loaded[0][1]


def _at_home(order: Order) -> Order:
    """The order with this machine's own paths."""
    if order.version != __version__:
        raise ModelError(f"edge-asr {__version__} is installed here, and the batch was given out by {order.version}")
    store = open_store()
    model = _same_model(store, order)
    vad = installed_vad(store) if order.configure.vad_model else None
    punctuation = installed_punctuation(store) if order.configure.punctuation_model else None
    configure = msgspec.structs.replace(
        order.configure,
        model_directory=str(model.directory),
        vad_model="" if vad is None else str(vad),
        punctuation_model="" if punctuation is None else str(punctuation),
    )
    return msgspec.structs.replace(order, configure=configure)


def _same_model(store: ModelStore, order: Order) -> InstalledModel:
    """The model in its place, as on the machine that gave the order, else that of the same name in our store."""
    directory = Path(order.configure.model_directory)
    if (directory / MANIFEST_FILE).is_file():
        there = InstalledModel(read_manifest(directory / MANIFEST_FILE), directory)
        if digests_of(there) == order.digests:
            return there
    ours = store.installed_or_none(order.model)
    if ours is None:
        raise ModelNotFound(order.model, f"`edge-asr models pull {order.model}` installs it")
    if digests_of(ours) != order.digests:
        raise ModelError(f"model {order.model!r} has other files here than where the batch was given out")
    return ours
