"""``quantization.json``: what was made of which model, how it was judged, and everything needed to do it again."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from edge_asr.quantize.accept import Judgement
from edge_asr.quantize.choices import Choice
from edge_asr.quantize.evaluate import Evaluation
from edge_asr.scoring import Metric

SCHEMA = 1
FILE = "quantization.json"

STOCK = "stock-int8"
"""Name of the usual int8 among the points of a search."""

PointVerdict = Literal["within", "behind", "over", "undecided", "original", "not judged", "failed"]
"""``behind``: within the budget, but with more errors than the usual int8, where a better model is looked for."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The model that was quantized."""

    name: str
    version: str
    family: str
    licence: str
    directory: str
    files: dict[str, str]
    """Role to SHA-256."""


class Accuracy(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of one model on the evaluation set, and their difference from the original's."""

    error_rate: float
    """0.05 for 5 %; of characters where the language wants it."""
    substitutions: int
    deletions: int
    insertions: int
    units: int
    """Words or characters of the references that were decoded."""
    difference: float = 0.0
    """Absolute, 0.005 for half a percentage point."""
    low: float = 0.0
    high: float = 0.0
    """Ends of the 95 % interval of the difference."""
    disagreements: int = 0
    recordings: int = 0
    """Decoded; fewer than the set has where the answer was plain before."""

    @property
    def errors(self) -> int:
        """Of all three kinds."""
        return self.substitutions + self.deletions + self.insertions


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """CPU time, measured beside the other models in turns."""

    rtf_cpu: float
    """CPU seconds per second of audio, one thread."""
    resident_bytes: int = 0
    """Memory of a process with the model loaded, the libraries included."""
    ratio: float | None = None
    """To that of the original."""
    low: float | None = None
    high: float | None = None
    """Ends of the 95 % interval of the ratio."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One model that was made and judged."""

    name: str
    verdict: PointVerdict
    size_bytes: int
    """Graphs and weights; token table and decoding graph are the same in all."""
    nodes: dict[Choice, int]
    """How many nodes of each choice; what is not named is float32."""
    accuracy: Accuracy | None = None
    speed: Speed | None = None
    divergence: float | None = None
    """Mean Kullback-Leibler divergence of the token posteriors from the original's, nats per frame."""
    note: str = ""


class NodeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What was done with one node of the model that was kept."""

    component: str
    name: str
    operator: str
    weight_shape: tuple[int, ...]
    choice: Choice
    divergence: dict[Choice, float] = {}
    """For each choice that was tried alone, what it did to the posteriors."""


class ComponentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the model that was kept."""

    role: str
    original_bytes: int
    bytes: int
    nodes: dict[Choice, int]
    operators_before: dict[str, int]
    operators_after: dict[str, int]


class AudioSet(msgspec.Struct, frozen=True, kw_only=True):
    """Recordings, by what is heard in them."""

    source: str
    recordings: int
    audio_s: float
    units: int = 0
    sha256: tuple[str, ...] = ()


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """What the run took."""

    wall_s: float
    cpu_s: float
    """With all child processes."""
    peak_memory_bytes: int
    """The largest of this process and of any child."""
    peak_disk_bytes: int
    """Of the work folder."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of it."""

    schema: int = SCHEMA
    created: str
    command: tuple[str, ...]
    versions: dict[str, str]
    processor: str
    has_vnni: bool | None = None
    """``None`` on other processors than x86."""
    origin: Origin
    recipe: str
    target: str
    why: str
    """A sentence on what the target can do."""
    seed: int
    budget: float | None = None
    """Absolute."""
    goal: str = ""
    """``better`` or ``smallest``, for a search."""
    metric: Metric = "wer"
    normaliser: str = ""
    blocks: int = 0
    """What the bootstrap resampled: utterances, or speakers."""
    kept: str = ""
    """Name of the point that was kept; empty where none was within the budget."""
    points: tuple[Point, ...] = ()
    components: tuple[ComponentRecord, ...] = ()
    nodes: tuple[NodeRecord, ...] = ()
    engine: dict[str, Any] = {}
    """Settings of the engine under which everything was decoded: who measures again needs the same."""
    evaluation: AudioSet | None = None
    calibration: AudioSet | None = None
    rescues: tuple[str, ...] = ()
    """What was done beyond choosing, a sentence each."""
    blank_penalty: float = 0.0
    """Subtracted from the blank's score, in the graph itself."""
    resources: Resources | None = None
    notes: tuple[str, ...] = ()


def encode(document: Document) -> bytes:
    """As indented JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def accuracy_of(evaluation: Evaluation, judgement: Judgement | None = None) -> Accuracy:
    """The figures of an evaluation, and of its comparison with the original."""
    report = evaluation.report
    accuracy = Accuracy(
        error_rate=report.error_rate,
        substitutions=report.substitutions,
        deletions=report.deletions,
        insertions=report.insertions,
        units=report.reference_units,
        recordings=report.utterances,
    )
    if judgement is None:
        return accuracy
    return msgspec.structs.replace(
        accuracy,
        difference=judgement.difference,
        low=judgement.interval.low,
        high=judgement.interval.high,
        disagreements=judgement.disagreements,
    )
