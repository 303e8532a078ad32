"""What is known of one worker while it runs: its load, its memory, and the cores its threads really use."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from edge_asr.resources.affinity import escaped_threads
from edge_asr.resources.delegation import WorkerGroup
from edge_asr.resources.memory import available_bytes
from edge_asr.sessions.load import Report, WorkerLoad
from edge_asr.sessions.step_cost import StepSums
from edge_asr.settings import Settings
from edge_asr.workers.memory_guard import MemoryBounds, Pressure, memory_bounds
from edge_asr.workers.messages import Ready, Stats

LONGEST_GAP_S = 3.0
"""Reports come every second while there is work; after a pause the next one is only where counting begins again."""

_logger = logging.getLogger(__name__)


class Vitals:
    """Of one place in the pool, whatever process fills it.

    Args:
        name: Number of the worker, for the log.
        settings: Groups ``admission``, ``engine``, ``scheduler`` and ``worker`` count.
        cpus: Cores the worker is to stay on; empty for any.
        group: Its control group, where it has one of its own.
        read_available_bytes: Memory that can be used without swapping.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        cpus: tuple[int, ...],
        group: WorkerGroup | None = None,
        read_available_bytes: Callable[[], int] = available_bytes,
    ) -> None:
        self._read_available_bytes = read_available_bytes
        self.cpus = cpus
        self._group = group
        self.escaped: Mapping[int, frozenset[int]] = {}
        """Threads that may run elsewhere, when they were last looked at, and where."""
        self.bounds: MemoryBounds | None = None
        self.resident_bytes = 0
        self.load = self._new_load(settings, 0.0)
        self._name = name
        self._settings = settings
        self._pid = 0
        self._stats: Stats | None = None
        self._reported_ns = 0

    @property
    def pressure(self) -> Pressure:
        """How near its memory limit it is."""
        return self.bounds.pressure(self.resident_bytes) if self.bounds is not None else "none"

    def began(self, ready: Ready, read_resident_bytes: Callable[[], int]) -> None:
        """A process is ready; asked again of the same one it changes nothing."""
        if ready.pid == self._pid:
            return
        self._pid, self._stats, self.escaped = ready.pid, None, {}
        self.resident_bytes = resident_bytes = read_resident_bytes()
        limit_mib = self._settings.worker.memory_limit_mib
        self.bounds = memory_bounds(limit_mib, resident_bytes, self._read_available_bytes())
        if self.bounds is not None and self.bounds.pressure(resident_bytes) == "hard":
            _logger.error(
                "worker %s takes %d MiB before its first session, and worker.memory_limit_mib allows %d; raise it",
                self._name,
                resident_bytes >> 20,
                self.bounds.hard >> 20,
            )
            self.bounds = None  # replacing it would help nobody
        if self.bounds is not None and self._group is not None:
            self._group.limit((self.bounds.soft + self.bounds.hard) // 2, self.bounds.hard)
        chunk_s = ready.chunk_ms / 1000 if ready.is_streaming else 0.0
        if self.load.chunk_s != chunk_s:
            self.load = self._new_load(self._settings, chunk_s, ready.streams_per_step)
        self.load.supposed_step_s = ready.step_s or self.load.supposed_step_s

    def report(self, stats: Stats, live_sessions: int, now_ns: int) -> None:
        """Take what the worker says of itself, once a second."""
        before, seconds = self._stats, (now_ns - self._reported_ns) / 1e9
        self._stats, self._reported_ns, self.resident_bytes = stats, now_ns, stats.rss_bytes
        if before is None or seconds > LONGEST_GAP_S:
            return
        self.load.report(
            Report(
                seconds=seconds,
                steps=StepSums(
                    steps=stats.batches - before.batches,
                    streams=stats.batched_streams - before.batched_streams,
                    streams_squared=stats.streams_squared - before.streams_squared,
                    seconds=stats.decode_s - before.decode_s,
                    stream_seconds=stats.stream_decode_s - before.stream_decode_s,
                    around_seconds=max(0.0, stats.around_s - before.around_s),
                ),
                live_steps=stats.live_streams - before.live_streams,
                audio_s=stats.audio_s - before.audio_s,
                live_audio_s=stats.live_audio_s - before.live_audio_s,
                live_decode_s=stats.live_decode_s - before.live_decode_s,
                live_sessions=live_sessions,
                late_steps=stats.late_streams - before.late_streams,
            )
        )

    def look_at_threads(self, root: Path = Path("/")) -> None:
        """Read where the kernel lets every thread run; one that has left the worker's cores is said once."""
        if not self._pid or not self.cpus:
            return
        try:
            found = escaped_threads(self._pid, self.cpus, root)
        except FileNotFoundError:
            return  # it has just ended
        if new := sorted(found.keys() - self.escaped.keys()):
            _logger.warning(
                "worker %s: %d threads may leave the cores %s; the first, %d, may run on %s",
                self._name,
                len(new),
                list(self.cpus),
                new[0],
                sorted(found[new[0]]),
            )
        self.escaped = found

    @staticmethod
    def _new_load(settings: Settings, chunk_s: float, streams_per_step: int = 0) -> WorkerLoad:
        most = settings.scheduler.max_batch
        max_batch = min(most, streams_per_step) if streams_per_step else most
        cores = settings.engine.threads * max(1, streams_per_step)
        return WorkerLoad(settings.admission, chunk_s, max_batch, cores)
