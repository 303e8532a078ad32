"""A fixed recipe: made, loaded once, judged if there are recordings."""

from __future__ import annotations

import shutil
from functools import partial

from edge_asr.engines.ort_streaming import StreamingRunner, can_run
from edge_asr.engines.trial import trial_load
from edge_asr.errors import ModelUnsupported
from edge_asr.quantize.document import Point
from edge_asr.quantize.graph import Quantized, quantizable_nodes
from edge_asr.quantize.moments import measure_moments
from edge_asr.quantize.output import STEPS
from edge_asr.quantize.recipes import PRODUCTS, RecipeName, apply_recipe
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.referee import Referee, choices_in, with_speeds
from edge_asr.quantize.static import static_int8
from edge_asr.quantize.table import Result, Table
from edge_asr.quantize.workshop import Made, graph_files

_WITHOUT_RECORDINGS = "not judged: --eval MANIFEST (recordings with their texts) measures what it costs in words"
_WITHOUT_BUDGET = "not judged: --max-wer-increase 0.5%, or another budget, makes it a verdict"


def follow(table: Table, recipe: RecipeName) -> Result:
    """Make what the recipe says; keep it unless it is over the budget.

    Raises:
        EdgeAsrError: The model or the recordings will not do, or the engine does not load what was made.
    """
    order = table.order
    made = table.make(recipe, _quantized(table, recipe))
    candidate = made.candidate
    trial_load(candidate.directory, candidate.manifest, table.settings.engine, vad_model=order.vad_model)
    referee = table.referee()
    if referee is None:
        point = Point(name=made.name, verdict="not judged", size_bytes=made.graph_bytes, nodes=choices_in(made))
        return Result((point,), made, (*made.notes, _WITHOUT_RECORDINGS))
    return _judged(table, made, referee)


def _judged(table: Table, made: Made, referee: Referee) -> Result:
    point = referee.judge(made)
    points = [referee.point_of_original(table.original), point]
    if point.verdict == "failed":
        return Result(tuple(points), None, (*made.notes, f"{made.name} cannot be used: {point.note}"))
    points = with_speeds(points, table.speeds((table.original, made)), table.original.name)
    is_kept = table.order.budget is None or point.verdict == "within"
    notes = [*made.notes]
    if point.verdict == "undecided":
        notes.append(referee.why_undecided(made.name))
    if point.verdict == "not judged":
        notes.append(_WITHOUT_BUDGET)
    return Result(tuple(points), made if is_kept else None, tuple(notes))


def _quantized(table: Table, recipe: RecipeName) -> dict[str, Quantized]:
    components, order = table.workshop.components, table.order
    if not order.needs_calibration:
        return apply_recipe(recipe, components, order.target, order.options)
    steps = _recorded(table)
    if recipe == "int8-static":
        return static_int8(components, steps, order.options)
    moments = {}
    for role, prepared in components.items():
        names = [node.name for node in quantizable_nodes(prepared, role, order.target) if node.operator in PRODUCTS]
        moments[role] = measure_moments(prepared, names, partial(steps.read, role))
    return apply_recipe(recipe, components, order.target, order.options, moments)


def _recorded(table: Table) -> RecordedSteps:
    """What goes into every graph while the original hears the calibration recordings.

    Raises:
        ModelUnsupported: Models of the family cannot be run step by step.
    """
    if not can_run(table.workshop.family):
        raise ModelUnsupported(
            table.order.original.manifest.name,
            f"{table.workshop.family.name} models cannot be run step by step here, so nothing can be calibrated; use "
            "int8, or another --algorithm",
        )
    table.progress.stage("listening to the calibration recordings", 1)
    rate_hz = table.order.original.manifest.sample_rate_hz
    files = graph_files(table.order.original)
    runner = StreamingRunner(files, table.workshop.family, sample_rate_hz=rate_hz)
    folder = table.folder / STEPS
    shutil.rmtree(folder, ignore_errors=True)
    steps = RecordedSteps(folder)
    steps.record(runner, table.recordings.calibration_audio(rate_hz, table.order.seed))
    return steps
