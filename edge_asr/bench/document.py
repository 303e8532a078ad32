"""What a bench leaves behind: everything needed to read, to compare and to repeat it, as one JSON document.

Raw measurements stand in :class:`Run`, one per process; :class:`Result` gathers the runs of one configuration and the
figures computed from them. Every figure has the name and the meaning of the project's metric definitions
(``docs/metrics.md``). Times are read from ``CLOCK_MONOTONIC``; the unit is in the name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from edge_asr.errors import InputError

SCHEMA = 1
"""Grows when a field changes its meaning."""

Mode = Literal["throughput", "paced"]
Door = Literal["library", "daemon"]


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """What is varied; two runs of equal configurations are repetitions of each other."""

    model: str
    """Store name."""
    mode: Mode
    provider: str = "cpu"
    threads: int = 1
    cpus: tuple[int, ...] = ()
    """Cores the process was pinned to."""
    streams: int = 1
    piece_ms: int = 100
    """Audio handed over at a time: chunk accumulation."""
    max_batch: int = 16
    """Streams decoded in one call."""
    window_ms: int = 0
    """How long a step may wait for more streams."""
    allow_spinning: bool = False
    door: Door = "library"
    second_pass: str = ""
    """Store name of the model that heard each segment again, for its final; empty for none."""

    def label(self) -> str:
        """A short name for tables and plots, such as ``starter-en · paced · 2 threads on 0,1 · 4 streams``."""
        parts = [f"{self.model}, then {self.second_pass}" if self.second_pass else self.model, self.mode]
        if self.door == "daemon":
            parts.append("daemon")
        if self.provider != "cpu":
            parts.append(self.provider)
        parts.append(_plural(self.threads, "thread") + (f" on {_ranges(self.cpus)}" if self.cpus else ""))
        if self.streams != 1:
            parts.append(_plural(self.streams, "stream"))
        parts += [f"{self.piece_ms} ms pieces"] if self.piece_ms != 100 else []
        parts += [f"batch {self.max_batch}"] if self.max_batch != 16 else []
        parts += [f"{self.window_ms} ms window"] if self.window_ms else []
        parts += ["spinning"] if self.allow_spinning else []
        return " · ".join(parts)


class Stages(msgspec.Struct, frozen=True, kw_only=True):
    """Where the processing time of a throughput run went, seconds of wall time in all."""

    conversion_s: float = 0.0
    """Sample format, channels, sampling rate."""
    vad_s: float = 0.0
    """Voice activity, of models that do not stream."""
    features_s: float = 0.0
    encoder_s: float | None = None
    """From the operator profile, scaled to this run; ``None`` without one."""
    decoder_s: float | None = None
    """Decoder and joiner, or the search of a CTC model; likewise."""
    model_s: float = 0.0
    """Inside the engine's decode call: encoder, decoder, joiner and search."""
    second_pass_s: float = 0.0
    """Inside the model that hears segments again."""
    text_s: float = 0.0
    """Hypothesis, stability, endpoint, words."""
    total_s: float = 0.0


class Utterance(msgspec.Struct, frozen=True, kw_only=True):
    """One clip heard once by one stream; times in milliseconds, ``None`` where they cannot be told."""

    clip: str
    stream: int = 0
    audio_s: float
    wall_s: float = 0.0
    """Processing time (throughput mode)."""
    cpu_s: float = 0.0
    errors: int = 0
    units: int = 0
    """Words, or characters, of the reference; 0 without a reference."""
    text: str = ""
    first_partial_ms: float | None = None
    """From the onset of speech."""
    flush_ms: float | None = None
    """Last audio given to the final text delivered."""
    final_ms: float | None = None
    """End of speech to the final delivered, where the endpoint rule closed the segment."""
    final_rule_ms: float | None = None
    """The part of ``final_ms`` that the rule waits for, by its own setting and the model's chunk."""
    final_compute_ms: float | None = None
    """The part spent on computing, queueing included."""
    final_delivery_ms: float | None = None
    """The part between the final and whoever waits for it."""
    emission_ms: tuple[float, ...] = ()
    """For each word of the reference that was recognised: when its final spelling first stood there, after its end."""
    last_token_ms: float | None = None
    """Last change of the text, after the end of speech (pr50/pr90)."""
    changed_words: int = 0
    emitted_words: int = 0
    second_passes_skipped: int = 0
    """Finals that should have come from the second pass and were the first model's."""


class Chunks(msgspec.Struct, frozen=True, kw_only=True):
    """The decoding steps of a paced run, in order; one entry per stream and step."""

    chunk_ms: float = 0.0
    """Audio per step of the model; 0 for models that do not stream, whose steps are as long as the pieces."""
    compute_ms: tuple[float, ...] = ()
    """Inside the step. Of a soak, this and the other series are an even sample."""
    latency_ms: tuple[float, ...] = ()
    """From the release of the piece that completed the chunk to the end of its step: waiting and computing."""
    at_s: tuple[float, ...] = ()
    """When each of these steps ended, since the measuring began."""
    jitter_ms: tuple[float, ...] = ()
    """How late the feeder itself was, per piece."""
    backlog_max_s: float = 0.0
    steps: int | None = None
    """How many there were in all; ``None``: those listed."""
    missed: int | None = None
    """Of all steps, those whose latency was longer than the chunk; ``None``: to be counted."""
    compute_max_ms: float | None = None
    latency_max_ms: float | None = None
    jitter_max_ms: float | None = None
    """The largest of all, listed or not; ``None``: of those listed."""

    @property
    def step_count(self) -> int:
        """Of all steps."""
        return len(self.latency_ms) if self.steps is None else self.steps

    @property
    def missed_count(self) -> int:
        """Of all steps, those that were late; 0 for models that do not stream."""
        if self.missed is not None:
            return self.missed
        return sum(value > self.chunk_ms for value in self.latency_ms) if self.chunk_ms else 0

    @property
    def longest_compute_ms(self) -> float:
        """Of all steps; 0 without any."""
        return max(self.compute_ms, default=0.0) if self.compute_max_ms is None else self.compute_max_ms

    @property
    def longest_latency_ms(self) -> float:
        """Of all steps; 0 without any."""
        return max(self.latency_ms, default=0.0) if self.latency_max_ms is None else self.latency_max_ms

    @property
    def longest_jitter_ms(self) -> float:
        """Of all pieces; 0 without any."""
        return max(self.jitter_ms, default=0.0) if self.jitter_max_ms is None else self.jitter_max_ms


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """The state of process and machine at one moment of a run."""

    at_s: float
    """Since the measuring began."""
    rss_bytes: int
    audio_s: float = 0.0
    """Audio decoded so far, all streams."""
    cpu_s: float = 0.0
    busy_s: float = 0.0
    """Processing time so far; throughput mode."""
    celsius: float | None = None
    frequency_khz: int | None = None


class Violation(msgspec.Struct, frozen=True):
    """Why a run does not count."""

    code: str
    """Stable, lower_snake_case."""
    message: str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One process: loaded, warmed up, measured."""

    repetition: int
    order: int
    """Its place among all runs of the bench; they are interleaved."""
    load_s: float = 0.0
    """Inspection, load and a first decode."""
    is_cold_load: bool = False
    """Whether the model's files were not in the system's memory before."""
    warm_up_s: float = 0.0
    """Audio decoded before anything was measured."""
    first_decode_ms: float = 0.0
    """From the start of the process to its first decode, imports included."""
    provider: str = ""
    """The one that really ran."""
    provider_share: float | None = None
    """Part of the model's operators that it ran, 0 to 1, the CPU the rest; ``None`` where no engine says."""
    wall_s: float = 0.0
    """Of the measured part."""
    audio_s: float = 0.0
    """Of the source, padding excluded, all streams."""
    padding_s: float = 0.0
    """Silence that was appended to it, all streams."""
    cpu_s: float = 0.0
    """User and system time of the process tree, measured part."""
    idle_cpu_share: float | None = None
    """CPU seconds per second with the model loaded, a session open for each stream, and silence coming in."""
    peak_bytes: int = 0
    """High water of the resident memory."""
    start_bytes: int = 0
    """Resident after the warm-up."""
    end_bytes: int = 0
    stages: Stages | None = None
    utterances: tuple[Utterance, ...] = ()
    chunks: Chunks | None = None
    samples: tuple[Sample, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should know about this run and does not make it invalid."""
    conditions: dict[str, Any] = {}
    """What the machine was like before, during and after, as the recorder of conditions wrote it."""
    violations: tuple[Violation, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether nothing disturbed it."""
        return not self.violations


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One number with what is known about its certainty."""

    value: float | None
    """``None``: it cannot be given; ``note`` says why."""
    unit: str
    """``ratio``, ``s``, ``ms``, ``bytes``, ``share`` (0 to 1), ``count``."""
    low: float | None = None
    """95 % interval."""
    high: float | None = None
    n: int = 0
    """Samples behind it."""
    note: str = ""


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that did not stay where it was."""

    figure: str
    """Such as ``memory_growth``."""
    message: str


class OperatorTime(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of operator of one of the model's graphs, from the runtime's own profile."""

    graph: str
    """Role of the model file: ``encoder``, ``joiner``, ``model``…"""
    operator: str
    calls: int
    total_ms: float
    share: float
    """Of the graph's time."""


class ProductTime(msgspec.Struct, frozen=True, kw_only=True):
    """Products of one shape with constant weights, from the runtime's own profile; what quantizing decides by."""

    graph: str
    operator: str
    """``MatMul``, ``MatMulNBits``, ``DynamicQuantizeMatMul``…; ``DynamicQuantizeLinear`` is what comes before some."""
    rows: int
    """Vectors that are multiplied at once."""
    inputs: int
    outputs: int
    calls: int
    least_ms: float
    """Of the fastest call, which nothing disturbed."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """All runs of one configuration."""

    configuration: Configuration
    runs: tuple[Run, ...] = ()
    figures: dict[str, Figure] = {}
    operators: tuple[OperatorTime, ...] = ()
    products: tuple[ProductTime, ...] = ()
    error: str = ""
    """Why there is no measurement, where there is none."""
    error_code: str = ""
    """Of the error, lower_snake_case."""
    drifts: tuple[Drift, ...] = ()
    """What changed over a long run, beyond doubt and by more than is harmless."""
    set_aside: tuple[Run, ...] = ()
    """Runs that other programs disturbed and that were measured again; they are in no figure."""

    @property
    def is_valid(self) -> bool:
        """Whether it has runs and none was disturbed."""
        return bool(self.runs) and not self.error and all(run.is_valid for run in self.runs)


class ModelIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Which model it was."""

    name: str
    version: str
    family: str
    precision: str
    chunk_ms: float
    files: dict[str, str]
    """Role to sha256."""
    size_bytes: int


class ClipIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Which recording it was."""

    name: str
    sha256: str
    audio_s: float
    text: str
    """The reference; empty without one."""


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """What was listened to."""

    source: str
    """Where the clips come from: ``bundled``, or the path that was given."""
    language: str
    normaliser: str
    clips: tuple[ClipIdentity, ...]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A whole bench."""

    schema: int = SCHEMA
    created: str
    """Wall clock, ISO 8601 with offset."""
    command: tuple[str, ...]
    seed: int
    versions: dict[str, str]
    """Package to version; ``kernel`` and ``python`` too."""
    board: dict[str, Any]
    """The fingerprint of the machine."""
    settings: dict[str, Any]
    """The merged configuration, group by group."""
    models: tuple[ModelIdentity, ...]
    workload: Workload
    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether every configuration was measured undisturbed."""
        return bool(self.results) and all(result.is_valid for result in self.results)


def encode(document: Document) -> bytes:
    """As indented JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def read_document(path: Path) -> Document:
    """Read what :func:`encode` wrote.

    Raises:
        InputError: The file is missing, no bench document, or of another schema.
    """
    try:
        document = msgspec.json.decode(path.read_bytes(), type=Document)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); make one with `edge-asr bench --json`") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not a bench document ({error}); make one with `edge-asr bench --json`") from error
    if document.schema != SCHEMA:
        raise InputError(f"{path}: schema {document.schema}; this version reads {SCHEMA}, run the bench again")
    return document


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _ranges(cpus: tuple[int, ...]) -> str:
    return ",".join(str(cpu) for cpu in cpus)
