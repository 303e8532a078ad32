"""The work of ``listen``: a worker as in the daemon, the microphone as its one client, and somebody who reads along."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator

from edge_asr.cli.captions import Captions, ListenFormat, open_captions
from edge_asr.cli.messages import remark
from edge_asr.cli.model_notes import notes_on
from edge_asr.cli.stores import choose_model, open_store
from edge_asr.listening.capture import CaptureProcess
from edge_asr.listening.device_choice import check_name
from edge_asr.listening.microphone import Microphone
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.settings import Settings
from edge_asr.workers.models import served
from edge_asr.workers.pool import Pool

ONE_PRESS_S = 0.5
"""Signals closer together are one: ``timeout`` and other wrappers send theirs twice, to us and to our group."""


def run_job(settings: Settings, listen_format: ListenFormat) -> None:
    """Listen until Ctrl-C or SIGTERM; returns with the last words written.

    Raises:
        ConfigurationError: The device's name does not say which one is meant.
        MachineError: The device cannot be opened.
        ModelError: The model cannot be loaded.
        KeyboardInterrupt: Ctrl-C was pressed twice.
    """
    check_name(settings.microphone.device)
    store = open_store()
    model = choose_model(store, settings.model, prefers_dictation=not settings.second_pass.model)
    for note in notes_on(store, model, settings):
        remark(note)
    logging.getLogger("edge_asr.listening").setLevel(logging.ERROR)  # the captions say the same
    instruments = Instruments(new_registry())
    pool = Pool(served(store, model, settings), instruments)
    with open_captions(listen_format, model.manifest.name) as captions:
        asyncio.run(_listen(settings, pool, instruments, captions))


async def _listen(settings: Settings, pool: Pool, instruments: Instruments, captions: Captions) -> None:
    is_first = True

    async def start_capture() -> CaptureProcess:
        # A device that is not there at the beginning is probably misspelt; one that goes away later may come back.
        nonlocal is_first
        must_exist, is_first = is_first, False
        return await CaptureProcess.start(settings.microphone, must_exist=must_exist)

    microphone = Microphone(start_capture, pool, captions.hear, instruments)
    listening = asyncio.create_task(microphone.run())
    loading = asyncio.create_task(_load(pool, captions))
    with _stopping_at_signals(microphone):
        try:
            await asyncio.wait({listening, loading}, return_when=asyncio.FIRST_COMPLETED)
            if loading.done():
                loading.result()
            await listening
        finally:
            for task in (listening, loading):
                task.cancel()
            await asyncio.gather(listening, loading, return_exceptions=True)
            await pool.close(0)


async def _load(pool: Pool, captions: Captions) -> None:
    await pool.start()
    captions.model_is_ready()


@contextlib.contextmanager
def _stopping_at_signals(microphone: Microphone) -> Iterator[None]:
    """The first Ctrl-C lets the last words be said, the second does not wait for them."""
    loop = asyncio.get_running_loop()
    asked_s: float | None = None

    def stop() -> None:
        nonlocal asked_s
        if asked_s is None:
            asked_s = loop.time()
            microphone.stop()
        elif loop.time() - asked_s > ONE_PRESS_S:
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
