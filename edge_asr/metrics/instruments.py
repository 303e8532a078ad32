"""Every metric of the daemon: its name, unit and help stand here and nowhere else.

Names follow Prometheus: prefix ``edge_asr_``, base units (seconds, bytes), ``_total`` for what only grows. The parts of
the daemon call the small methods; nobody else touches an instrument. The real-time factor is a ratio of counters, over
any window one likes::

    rate(edge_asr_decode_seconds_total[5m]) / rate(edge_asr_audio_seconds_total[5m])
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from edge_asr.metrics.worker_histogram import WorkerHistogram
from edge_asr.tally import BATCH_SIZES, STEPS_S, WAITS_S

_FINAL_LATENCY_BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0)

_WORKER_TOTALS = {
    "audio_s": ("edge_asr_audio_seconds", "Audio decoded, seconds."),
    "decode_s": ("edge_asr_decode_seconds", "Wall time spent in the engine, seconds."),
    "cpu_s": ("edge_asr_worker_cpu_seconds", "Processor time of the worker process, seconds."),
    "batches": ("edge_asr_decode_batches", "Decode calls of the engine."),
    "batched_streams": ("edge_asr_decode_batched_streams", "Streams in those calls; divided by them, the mean batch."),
    "live_streams": ("edge_asr_live_steps", "Steps of live streams, each stream of a step counted."),
    "late_streams": (
        "edge_asr_late_steps",
        "Of them, those that ended after they were due: one chunk after the audio.",
    ),
    "segments": ("edge_asr_segments", "Segments closed with a final."),
    "dropped_s": ("edge_asr_dropped_audio_seconds", "Audio of live sessions dropped: decoding fell behind, seconds."),
    "skipped_s": ("edge_asr_gated_seconds", "Silence that the gate kept from the engine, seconds."),
    "stale_partials": ("edge_asr_stale_partials", "Partials that were not sent because decoding was late."),
    "second_passes_done": ("edge_asr_second_passes", "Finals of the second model."),
    "second_passes_skipped": (
        "edge_asr_skipped_second_passes",
        "Finals of the first model because the second one was late, or failed.",
    ),
    "replaced_samples": ("edge_asr_replaced_samples", "Samples that were no finite number and became silence."),
}
"""Figures a worker counts from its own start: key in its report, name and help of the counter."""

_WORKER_LEVELS = {
    "backlog_s": ("edge_asr_backlog_seconds", "Audio received and not yet decoded, all sessions, seconds."),
    "queue_depth": ("edge_asr_decode_queue_depth", "Streams ready for a step at once, the most since the last report."),
}
"""Figures of a worker that rise and fall."""

Spread = tuple[tuple[int, ...], float]
"""Values in each bucket by itself, and their sum."""
_WORKER_CONFINEMENT = {
    "capacity": ("edge_asr_worker_capacity_streams", "Streams that talk and can be decoded in time; +Inf: not known."),
    "needed": ("edge_asr_worker_needed_streams", "Streams of its sessions that talk at a time, at most."),
    "busy": ("edge_asr_worker_busy_ratio", "Share of the time that its decode thread spends in the engine."),
    "memory_limit": ("edge_asr_worker_memory_limit_bytes", "Resident memory at which it is replaced, bytes; 0: none."),
    "escaped": ("edge_asr_worker_escaped_threads", "Threads that may run outside the worker's cores."),
}
"""What bounds a worker: key, name and help of the gauge."""

_THROTTLE_CAUSES = ("under_voltage", "frequency_capped", "throttled", "soft_temperature_limit")

_MODEL_LABELS = ("worker", "model", "family", "provider", "languages", "threads", "digest")


class Instruments:
    """All instruments, registered in one registry of their own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._sessions_open = Gauge("edge_asr_sessions_open", "Sessions open now.", ["protocol"], registry=registry)
        self._sessions_limit = Gauge("edge_asr_sessions_limit", "Sessions that may be open at once.", registry=registry)
        self._sessions = Counter(
            "edge_asr_sessions",
            "Sessions that ended, by protocol and outcome: ended, cancelled, or the code of the error.",
            ["protocol", "outcome"],
            registry=registry,
        )
        self._refused = Counter(
            "edge_asr_sessions_refused",
            "Sessions that were not opened, by protocol and code of the error.",
            ["protocol", "code"],
            registry=registry,
        )
        self._final_latency = Histogram(
            "edge_asr_final_latency_seconds",
            "From the client's flush or end of audio to its last final, seconds; includes audio still to be decoded.",
            ["protocol"],
            buckets=_FINAL_LATENCY_BUCKETS_S,
            registry=registry,
        )
        self._final_travel = Histogram(
            "edge_asr_final_travel_seconds",
            "From the moment a worker has a final to its place in the client's queue, seconds.",
            buckets=WAITS_S,
            registry=registry,
        )
        self._build = Gauge("edge_asr_build_info", "1 for the version that runs.", ["version"], registry=registry)
        self._started = Gauge(
            "edge_asr_start_time_seconds", "When the daemon was started, seconds since the epoch.", registry=registry
        )
        self._worker_up = Gauge(
            "edge_asr_worker_up", "1 while the worker can take sessions, else 0.", ["worker"], registry=registry
        )
        self._worker_restarts = Counter(
            "edge_asr_worker_restarts",
            "Workers that were replaced: they died or load_failed, or were recycled for age, sessions or memory.",
            ["worker", "reason"],
            registry=registry,
        )
        self._worker_load = Gauge(
            "edge_asr_worker_load_seconds",
            "From the start of the worker to its first decode, seconds.",
            ["worker"],
            registry=registry,
        )
        self._model = Gauge(
            "edge_asr_model_info",
            "1 for the model each worker serves and what it runs on.",
            _MODEL_LABELS,
            registry=registry,
        )
        self._memory = Gauge(
            "edge_asr_resident_memory_bytes",
            "Resident memory, bytes, by process: front, worker-0 and so on.",
            ["process"],
            registry=registry,
        )
        self._sink_finals = Counter(
            "edge_asr_sink_finals",
            "Finals offered to a sink (mqtt, hook), by what became of them: delivered, failed or dropped.",
            ["sink", "outcome"],
            registry=registry,
        )
        self._microphone_up = Gauge(
            "edge_asr_microphone_up",
            "1 while the microphone records, 0 while it is lost.",
            ["device"],
            registry=registry,
        )
        self._microphone_losses = Counter(
            "edge_asr_microphone_losses", "Times the microphone was lost.", ["device"], registry=registry
        )
        self._microphone_overruns = Counter(
            "edge_asr_microphone_overruns",
            "Times the sound device said that it lost audio.",
            ["device"],
            registry=registry,
        )
        self._microphone_gaps = Counter(
            "edge_asr_microphone_gap_seconds",
            "Audio lost by the sound device or before it could be read, seconds.",
            ["device"],
            registry=registry,
        )
        self._totals = {
            key: Counter(name, text, ["worker"], registry=registry) for key, (name, text) in _WORKER_TOTALS.items()
        }
        self._levels = {
            key: Gauge(name, text, ["worker"], registry=registry) for key, (name, text) in _WORKER_LEVELS.items()
        }
        self._batch_sizes = WorkerHistogram(
            "edge_asr_decode_batch_size", "Streams of one decoding step.", BATCH_SIZES, registry
        )
        self._waits = WorkerHistogram(
            "edge_asr_decode_wait_seconds",
            "From the moment a stream's next step had its audio to the beginning of the step, seconds.",
            WAITS_S,
            registry,
        )
        self._steps = WorkerHistogram(
            "edge_asr_decode_step_seconds", "Wall time of one decoding step, seconds.", STEPS_S, registry
        )
        self._confinement = {
            key: Gauge(name, text, ["worker"], registry=registry) for key, (name, text) in _WORKER_CONFINEMENT.items()
        }
        self._temperature = Gauge(
            "edge_asr_temperature_celsius", "Hottest sensor, degrees Celsius; NaN: there is none.", registry=registry
        )
        self._npu_load = Gauge(
            "edge_asr_npu_load_ratio", "How busy a core of the NPU was of late, 0 to 1.", ["core"], registry=registry
        )
        self._heat_share = Gauge(
            "edge_asr_heat_capacity_ratio",
            "Share of the workers' capacity that the machine's heat and clock leave; 1: all of it.",
            registry=registry,
        )
        self._throttled = Gauge(
            "edge_asr_throttled", "1 while the firmware holds the machine back, by cause.", ["cause"], registry=registry
        )
        self._is_lighter = Gauge(
            "edge_asr_lighter_model_in_use", "1 while new sessions get the lighter model.", registry=registry
        )
        self._reported: dict[str, Mapping[str, float]] = {}
        self._served: dict[str, tuple[str, ...]] = {}

    def daemon_started(self, version: str, now_s: float) -> None:
        """Which version, and when by the wall clock, seconds since the epoch."""
        self._build.labels(version).set(1)
        self._started.set(now_s)

    # Sessions

    def limit_sessions(self, max_sessions: int) -> None:
        """So many may be open at once."""
        self._sessions_limit.set(max_sessions)

    def session_opened(self, protocol: str) -> None:
        """A client of this protocol has a session."""
        self._sessions_open.labels(protocol).inc()

    def session_ended(self, protocol: str, outcome: str) -> None:
        """It is over: ``ended``, ``cancelled`` or the code of the error."""
        self._sessions_open.labels(protocol).dec()
        self._sessions.labels(protocol, outcome).inc()

    def session_refused(self, protocol: str, code: str) -> None:
        """It did not get one."""
        self._refused.labels(protocol, code).inc()

    def final_delivered(self, protocol: str, latency_s: float) -> None:
        """The client had so long to wait for its final."""
        self._final_latency.labels(protocol).observe(latency_s)

    def final_travelled(self, seconds: float) -> None:
        """A final has come from its worker."""
        self._final_travel.observe(max(0.0, seconds))

    # Microphone

    def sink_final(self, sink: str, outcome: str) -> None:
        """A final was delivered to a sink, was not, or gave way to newer ones."""
        self._sink_finals.labels(sink, outcome).inc()

    def microphone_is_open(self, device: str, *, is_open: bool) -> None:
        """It records, or it does not."""
        self._microphone_up.labels(device).set(is_open)

    def microphone_lost(self, device: str) -> None:
        """It was unplugged, or stopped delivering."""
        self._microphone_losses.labels(device).inc()

    def microphone_heard(self, device: str, overruns: int, gap_s: float) -> None:
        """A piece of audio, with what was lost before it."""
        self._microphone_overruns.labels(device).inc(overruns)
        self._microphone_gaps.labels(device).inc(gap_s)

    # Workers

    def worker_ready(self, worker: str, load_s: float, **model: str | int) -> None:
        """A worker has loaded its model.

        Args:
            worker: Number of the worker.
            load_s: Seconds from its start.
            model: ``model``, ``family``, ``provider``, ``languages`` and ``threads`` as they really are, and the
                ``digest`` of its weights.
        """
        self._reported[worker] = {}
        self._batch_sizes.began(worker)
        self._waits.began(worker)
        self._steps.began(worker)
        self._worker_up.labels(worker).set(1)
        self._worker_load.labels(worker).set(load_s)
        if worker in self._served:
            self._model.remove(*self._served[worker])
        self._served[worker] = (worker, *(str(model[label]) for label in _MODEL_LABELS[1:]))
        self._model.labels(*self._served[worker]).set(1)

    def worker_reported(self, worker: str, figures: Mapping[str, float]) -> None:
        """Figures of a worker, counted from its own start; counters grow by what was added since the last report."""
        before = self._reported.get(worker, {})
        for key, counter in self._totals.items():
            counter.labels(worker).inc(max(0.0, figures[key] - before.get(key, 0.0)))
        for key, gauge in self._levels.items():
            gauge.labels(worker).set(figures[key])
        self._reported[worker] = figures

    def worker_stepped(self, worker: str, batch_sizes: Spread, waits: Spread, steps: Spread) -> None:
        """How a worker's decoding steps were spread, counted from its own start."""
        self._batch_sizes.report(worker, *batch_sizes)
        self._waits.report(worker, *waits)
        self._steps.report(worker, *steps)

    def worker_down(self, worker: str) -> None:
        """A worker cannot take sessions: it is starting, or was ended on purpose."""
        self._worker_up.labels(worker).set(0)
        for gauge in self._levels.values():
            gauge.labels(worker).set(0)

    def worker_lost(self, worker: str, reason: str) -> None:
        """A worker has to be replaced: it ``died``, or ``load_failed``."""
        self.worker_down(worker)
        self._worker_restarts.labels(worker, reason).inc()

    def worker_recycled(self, worker: str, reason: str) -> None:
        """A fresh worker has taken its place, for its ``age``, number of ``sessions`` or ``memory``."""
        self._worker_restarts.labels(worker, reason).inc()

    def worker_retired(self, worker: str) -> None:
        """There is no such worker any more; another one may have the same number later."""
        for gauge in (self._worker_up, self._worker_load, *self._levels.values(), *self._confinement.values()):
            _forget(gauge, worker)
        _forget(self._memory, f"worker-{worker}")
        if worker in self._served:
            _forget(self._model, *self._served.pop(worker))
        self._reported.pop(worker, None)

    def worker_capacity(self, worker: str, capacity: float, needed: float, busy: float) -> None:
        """What a worker can carry and does, in streams that talk, and the share of its time in the engine."""
        for key, value in (("capacity", capacity), ("needed", needed), ("busy", busy)):
            self._confinement[key].labels(worker).set(value)

    def worker_confinement(self, worker: str, memory_limit_bytes: int, escaped_threads: int) -> None:
        """Its memory limit, 0 for none, and how many of its threads may leave its cores."""
        self._confinement["memory_limit"].labels(worker).set(memory_limit_bytes)
        self._confinement["escaped"].labels(worker).set(escaped_threads)

    # The machine

    def heat(self, celsius: float | None, capacity_share: float, throttling: Collection[str]) -> None:
        """How hot it is, what share of the capacity that leaves, and what the firmware holds back."""
        self._temperature.set(math.nan if celsius is None else celsius)
        self._heat_share.set(capacity_share)
        for cause in _THROTTLE_CAUSES:
            self._throttled.labels(cause).set(cause in throttling)

    def npu(self, loads: Mapping[str, float]) -> None:
        """How busy each core of the NPU is; none where the kernel does not say."""
        for core, load in loads.items():
            self._npu_load.labels(core).set(load)

    def serve_lighter(self, is_lighter: bool) -> None:
        """Whether new sessions get the lighter model."""
        self._is_lighter.set(is_lighter)

    def watch_memory(self, process: str, resident_bytes: Callable[[], float]) -> None:
        """Ask this function for the resident memory of a process at every scrape."""
        self._memory.labels(process).set_function(resident_bytes)


def _forget(gauge: Gauge, *labels: str) -> None:
    """Remove a series, if there ever was one."""
    with contextlib.suppress(KeyError):
        gauge.remove(*labels)
