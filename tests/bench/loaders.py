"""Loaders for a measuring process: engines that say ``go`` after half a second, each with a fault of its own.

Files in the model directory are how a test and its engine in another process speak to each other.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from edge_asr.engines.base import EngineDescription
from edge_asr.engines.instruments import Instruments, TimedEngine
from edge_asr.engines.scripted import ScriptedEngine, ScriptedSegmentDecoder, ScriptedStream, ScriptedWord
from edge_asr.errors import ModelDamaged
from edge_asr.workers.loaded_model import LoadedModel, SecondModel
from edge_asr.workers.messages import Configure

MODULE = __name__
CHUNK_MS = 100
WARM_UP_STEPS = 10
"""One recording of a second."""

Hook = Callable[[Sequence[ScriptedStream]], None]


class FallenBackEngine(ScriptedEngine):
    def describe(self) -> EngineDescription:
        return dataclasses.replace(super().describe(), provider="cpu", notes=("no such device",))


def _loaded(
    instruments: Instruments, on_decode: Hook | None = None, kind: type[ScriptedEngine] = ScriptedEngine
) -> LoadedModel:
    engine = kind([ScriptedWord("go", 0.5)], chunk_ms=CHUNK_MS, on_decode=on_decode)
    timed = TimedEngine(engine, instruments.stopwatch) if instruments.stopwatch else engine
    return LoadedModel(timed, ("en",))


def _after_warm_up(act: Callable[[], None]) -> Hook:
    steps = iter(range(1_000_000))
    return lambda _streams: act() if next(steps) == WARM_UP_STEPS + 1 else None


def load(configure: Configure, instruments: Instruments) -> LoadedModel:
    """An engine without a fault."""
    return _loaded(instruments)


def load_with_second_pass(configure: Configure, instruments: Instruments) -> LoadedModel:
    """A second model hears each segment again, and says so."""
    second = SecondModel(ScriptedSegmentDecoder(lambda _samples: "go on"), "as_is")
    return dataclasses.replace(_loaded(instruments), second=second)


def load_slow(configure: Configure, instruments: Instruments) -> LoadedModel:
    """Takes twice as long as the speech lasts."""
    return _loaded(instruments, lambda _streams: time.sleep(2 * CHUNK_MS / 1000))


def load_leaking(configure: Configure, instruments: Instruments) -> LoadedModel:
    """Each step keeps a MiB for ever."""
    kept: list[bytearray] = []
    return _loaded(instruments, lambda _streams: kept.append(bytearray(b"\1" * (1 << 20))))


def load_fallen_back(configure: Configure, instruments: Instruments) -> LoadedModel:
    """Runs on the processor, whatever was asked for."""
    return _loaded(instruments, kind=FallenBackEngine)


def load_throttling(configure: Configure, instruments: Instruments) -> LoadedModel:
    """The firmware throttles the board in the middle of the measurement."""
    word = Path((Path(configure.model_directory) / "firmware-file").read_text())

    def throttle() -> None:
        word.write_text("40004")

    return _loaded(instruments, _after_warm_up(throttle))


def load_dying(configure: Configure, instruments: Instruments) -> LoadedModel:
    """Killed in the middle of the measurement, as for lack of memory."""
    return _loaded(instruments, _after_warm_up(lambda: os.kill(os.getpid(), signal.SIGKILL)))


def load_hanging(configure: Configure, instruments: Instruments) -> LoadedModel:
    """Stands still in the middle of the measurement."""
    never = threading.Event()

    def hang() -> None:
        never.wait()

    return _loaded(instruments, _after_warm_up(hang))


def load_interrupted(configure: Configure, instruments: Instruments) -> LoadedModel:
    """The user interrupts whoever measures."""
    return _loaded(instruments, _after_warm_up(lambda: os.kill(os.getppid(), signal.SIGINT)))


def load_failing(configure: Configure, instruments: Instruments) -> LoadedModel:
    """Its native part raises in the middle of the measurement."""

    def fail() -> None:
        raise RuntimeError("the arena is full")

    return _loaded(instruments, _after_warm_up(fail))


def load_for_ever(configure: Configure, instruments: Instruments) -> LoadedModel:
    while True:
        signal.pause()


def refuse(configure: Configure, instruments: Instruments) -> LoadedModel:
    raise ModelDamaged("scripted", "it is no model")


def end_while_loading(configure: Configure, instruments: Instruments) -> LoadedModel:
    os._exit(255)


def raise_while_loading(configure: Configure, instruments: Instruments) -> LoadedModel:
    raise ZeroDivisionError("a fault of the program")


def named(function: Callable[..., Any]) -> str:
    """As a task names it."""
    return f"{MODULE}:{function.__name__}"


def settings() -> dict[str, Any]:
    """The groups of a ``Configure``, as they are by default."""
    from edge_asr.settings import Settings

    built: dict[str, Any] = msgspec.to_builtins(Settings())
    return {name: built[name] for name in ("engine", "endpoint", "scheduler", "worker", "limits")}
