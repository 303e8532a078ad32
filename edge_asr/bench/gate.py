"""Gates: what a measurement must be for a device to be shipped. Pure: figures and limits in, a verdict out.

A gate file is TOML::

    [[gate]]
    figure = "chunk_compute_p90"   # a name of docs/metrics.md
    max = 0.5
    unit = "chunk"                 # of the model's chunk; without a unit: the figure's own

An invalid run is never a PASS; a gate whose figure could not be measured is not met, unless it is marked
``optional = true``. A growth per hour fails only where its interval excludes zero: minutes of noise are no leak.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from edge_asr.bench.document import Figure, Result, Violation
from edge_asr.bench.figure_text import FIGURES
from edge_asr.errors import ConfigurationError

Verdict = Literal["PASS", "FAIL", "INVALID"]
GateUnit = Literal["", "chunk", "memory"]


class Gate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One limit."""

    figure: str
    max: float | None = None
    min: float | None = None
    unit: GateUnit = ""
    """``chunk``: parts of the model's chunk; ``memory``: parts of the memory this process may use."""
    optional: bool = False
    """Whether a figure that could not be measured is no failure."""

    def __post_init__(self) -> None:
        if self.max is None and self.min is None:
            raise ValueError(f"the gate on {self.figure!r} has neither `max` nor `min`")
        if self.max is not None and self.min is not None:
            raise ValueError(f"the gate on {self.figure!r} has both `max` and `min`; write two gates")


class GateOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One gate, applied."""

    figure: str
    is_met: bool
    value: float | None
    limit: float | None
    """In the figure's own unit; ``None`` where it cannot be told."""
    unit: str
    is_lower_limit: bool = False
    margin: float | None = None
    """Part of the limit that is left; negative when it was exceeded."""
    note: str = ""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """All gates of one self-test."""

    verdict: Verdict
    outcomes: tuple[GateOutcome, ...]
    violations: tuple[Violation, ...] = ()


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What relative limits are relative to."""

    chunk_ms: float
    """0 for models that do not stream."""
    memory_bytes: int
    """What this process may use at most."""


DEFAULT_GATES = (
    Gate(figure="chunk_compute_p90", max=0.5, unit="chunk", optional=True),
    Gate(figure="deadline_miss", max=0.0, optional=True),
    Gate(figure="rtf_wall", max=0.7),
    Gate(figure="backlog_max", max=2.0),
    Gate(figure="flush_latency_max", max=1000.0),
    Gate(figure="memory_peak", max=0.8, unit="memory"),
    Gate(figure="wer", max=0.25, optional=True),
)
"""Room for a warmer day and another process: half a chunk computed in half its time, seven tenths of a core's time."""

QUICK_GATES = tuple(gate for gate in DEFAULT_GATES if gate.figure not in ("chunk_compute_p90", "flush_latency_max"))
"""Those for which twenty seconds are enough."""

LONG_GATES = (
    *DEFAULT_GATES,
    Gate(figure="chunk_latency_p99", max=1.0, unit="chunk", optional=True),
    Gate(figure="memory_growth", max=8.0 * (1 << 20), optional=True),
)
"""With those that only a large sample decides."""


_NOT_MEASURED = "it was not measured"


def read_gates(path: Path) -> tuple[Gate, ...]:
    """The gates of a file.

    Raises:
        ConfigurationError: It cannot be read, is no TOML, or holds something else than gates.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        gates = msgspec.convert(entries.pop("gate", []), tuple[Gate, ...])
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}); see docs/self-test.md") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ConfigurationError(f"{path}: not a gate file: {error}; see docs/self-test.md") from error
    _require_known(gates, path)
    if entries or not gates:
        wrong = f"unknown key {next(iter(entries))!r}" if entries else "no gate in it"
        raise ConfigurationError(f"{path}: {wrong}; a gate file holds [[gate]] tables, see docs/self-test.md")
    return gates


def _require_known(gates: Sequence[Gate], path: Path) -> None:
    """A gate on a misspelt figure would fail for ever, or if it is optional never."""
    for gate in gates:
        if gate.figure not in FIGURES:
            close = difflib.get_close_matches(gate.figure, FIGURES, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigurationError(f"{path}: no figure is called {gate.figure!r}{hint} See docs/self-test.md")


def judge(gates: Sequence[Gate], results: Sequence[Result], surroundings: Surroundings) -> Judgement:
    """Apply the gates to what was measured.

    Args:
        gates: At least one.
        results: Where several have a figure, the worst counts: memory is high in one mode or in the other.
        surroundings: Of the machine and the model.
    """
    outcomes = tuple(_worst([_apply(gate, result.figures, surroundings) for result in results]) for gate in gates)
    violations = tuple(violation for result in results for run in result.runs for violation in run.violations)
    failures = [result.error for result in results if result.error]
    is_met = all(outcome.is_met for outcome in outcomes) and not failures
    verdict: Verdict = "INVALID" if violations and not failures else "PASS" if is_met else "FAIL"
    return Judgement(verdict=verdict, outcomes=outcomes, violations=_once(violations))


def _worst(outcomes: Sequence[GateOutcome]) -> GateOutcome:
    """Of one gate on several results: what was measured counts, and of that what is farthest beyond the limit."""
    measured = [outcome for outcome in outcomes if outcome.limit is not None]
    if not measured:
        return next((outcome for outcome in outcomes if outcome.note != _NOT_MEASURED), outcomes[0])
    return min(measured, key=_excess)


def _excess(outcome: GateOutcome) -> tuple[bool, float]:
    value, limit = outcome.value or 0.0, outcome.limit or 0.0
    return outcome.is_met, value - limit if outcome.is_lower_limit else limit - value


def _apply(gate: Gate, figures: Mapping[str, Figure], surroundings: Surroundings) -> GateOutcome:
    figure = figures.get(gate.figure)
    name = gate.figure
    if figure is None and name == "wer" and (figure := figures.get("cer")) is not None:
        name = "cer"  # the same gate, for languages that are scored by characters
    if figure is None or figure.value is None:
        note = figure.note if figure else _NOT_MEASURED
        return GateOutcome(figure=name, is_met=gate.optional, value=None, limit=None, unit="", note=note)
    is_lower = gate.max is None
    limit = _in_own_unit(gate.min if gate.max is None else gate.max, gate.unit, figure, surroundings)
    if limit is None:
        note = "the model does not stream: it has no chunk"
        return GateOutcome(
            figure=name, is_met=gate.optional, value=figure.value, limit=None, unit=figure.unit, note=note
        )
    is_met = figure.value >= limit if is_lower else figure.value <= limit
    note = figure.note
    if not is_met and figure.unit.endswith("per hour") and not _excludes_zero(figure):
        is_met, note = True, "no trend: the interval holds zero"
    left = (figure.value - limit) if is_lower else (limit - figure.value)
    return GateOutcome(
        figure=name,
        is_met=is_met,
        value=figure.value,
        limit=limit,
        unit=figure.unit,
        is_lower_limit=is_lower,
        margin=left / limit if limit else None,
        note=note,
    )


def _excludes_zero(figure: Figure) -> bool:
    return figure.low is not None and figure.high is not None and not figure.low <= 0 <= figure.high


def _in_own_unit(limit: float | None, unit: GateUnit, figure: Figure, surroundings: Surroundings) -> float | None:
    if limit is None:
        return None
    if unit == "chunk":
        chunk = surroundings.chunk_ms if figure.unit == "ms" else surroundings.chunk_ms / 1000
        return limit * chunk if chunk else None
    if unit == "memory":
        return limit * surroundings.memory_bytes
    return limit


def _once(violations: Sequence[Violation]) -> tuple[Violation, ...]:
    return tuple({violation.code: violation for violation in violations}.values())
