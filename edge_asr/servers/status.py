"""What the daemon says about itself: ``GET /status``, read by people through ``edge-asr status`` and by programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from edge_asr.listening.messages import MicrophoneState
from edge_asr.workers.base import OfferedModel, PoolStatus
from edge_asr.workers.messages import Ready


@dataclass(frozen=True, slots=True)
class Door:
    """One address at which the daemon listens."""

    name: str
    """``http``, ``wyoming``, ``vosk`` or ``sherpa``."""
    address: str
    """As a client would write it."""
    access: str
    """Who may use it."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Figures of the machine and of the front process, read at the moment."""

    front_rss_bytes: int
    temperature_c: float | None
    """Hottest sensor; ``None`` where there is none."""
    npu_loads: Mapping[str, float] = field(default_factory=dict)
    """How busy each core of the NPU was of late, 0 to 1; empty where the kernel does not say."""


def status_document(
    pool: PoolStatus,
    doors: tuple[Door, ...],
    machine: Machine,
    *,
    version: str,
    uptime_s: float,
    microphone: MicrophoneState | None = None,
) -> dict[str, Any]:
    """The document."""
    ready, stats = pool.ready, pool.stats
    return {
        "version": version,
        "uptime_s": round(uptime_s, 1),
        "state": pool.state,
        "reason": pool.reason,
        "model": {**msgspec.to_builtins(ready), "words_note": _words_note(ready, pool.offered)} if ready else None,
        "sessions": pool.sessions,
        "max_sessions": pool.max_sessions,
        "restarts": pool.restarts,
        "worker_pid": pool.worker_pid,
        "rtf": round(stats.decode_s / stats.audio_s, 4) if stats and stats.audio_s else None,
        "stats": msgspec.to_builtins(stats) if stats else None,
        "memory_bytes": {"front": machine.front_rss_bytes, "worker": stats.rss_bytes if stats else 0},
        "microphone": (
            {"state": microphone.state, "device": microphone.device, "message": microphone.message}
            if microphone
            else None
        ),
        "temperature_c": machine.temperature_c,
        "npu_loads": dict(machine.npu_loads),
        "workers": [
            {key: value for key, value in msgspec.to_builtins(worker).items() if key != "stats"}
            for worker in pool.workers
        ],
        "doors": [{"door": door.name, "address": door.address, "access": door.access} for door in doors],
    }


def _words_note(ready: Ready, offered: Sequence[OfferedModel]) -> str:
    """What the active model cannot hear; instead of how to get one that can, which one is here."""
    able = next((model.name for model in offered if model.hears_everything), "")
    if not ready.words_note or not able:
        return ready.words_note
    return f"{ready.words_note.partition(';')[0]}; for open speech ask for `{able}`, which is installed"
