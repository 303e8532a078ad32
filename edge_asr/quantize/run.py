"""A whole quantization: read, make, judge, keep, write."""

from __future__ import annotations

import datetime as dt
import platform
import resource
import shutil
import time
from dataclasses import replace
from pathlib import Path

import msgspec

from edge_asr.engines.trial import trial_load
from edge_asr.quantize.auto import is_x86, search
from edge_asr.quantize.document import FILE, Document, Resources, encode
from edge_asr.quantize.fixed import follow
from edge_asr.quantize.order import Order, Outcome
from edge_asr.quantize.output import REPORT_FILE, require_writable, working_on, write_model, write_text
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.record import PACKAGES, audio_set, component_records, node_records, origin_of
from edge_asr.quantize.recordings import read_recordings
from edge_asr.quantize.report_html import render_html
from edge_asr.quantize.room import require_room
from edge_asr.quantize.table import Result, Table, set_table
from edge_asr.quantize.workshop import Made, base_name
from edge_asr.resources.cpu_features import common_features, read_processors
from edge_asr.resources.packages import installed_versions
from edge_asr.scoring import score


def quantize(order: Order, progress: Progress) -> Outcome:
    """Make the model that was ordered.

    Nothing appears under the output's name before everything is known. What was measured stays in a folder beside it
    until then, so that an interrupted run goes on where it was.

    Raises:
        EdgeAsrError: The model, the recordings or the machine cannot do it.
    """
    require_writable(order.output, order.original.directory)
    with working_on(order.output, progress) as folder:
        require_room(order, folder)
        table = set_table(order, progress, read_recordings(order, progress), folder)
        result = search(table) if order.recipe == "auto" else follow(table, order.recipe)
        return _written(table, result)


def _written(table: Table, result: Result) -> Outcome:
    """Write what was kept, and the report in any case."""
    order = table.order
    if result.kept is not None and order.file_format == "ort":
        result = _in_ort(table, result, result.kept)
    document = _document(table, result)
    page = render_html(document)
    if order.report is not None:
        write_text(order.report, page)
    if result.kept is None:
        report = order.report or order.output.absolute().with_name(f"{order.output.name}.{REPORT_FILE}")
        write_text(report, page)
        return Outcome(document, None, report)

    def fill(directory: Path) -> None:
        (directory / FILE).write_bytes(encode(document))
        (directory / REPORT_FILE).write_text(page, encoding="utf-8")

    write_model(order.output, result.kept, f"{base_name(order.original.manifest.name)}-{order.recipe}", fill)
    shutil.rmtree(table.folder)
    return Outcome(document, order.output, order.report or order.output / REPORT_FILE)


def _in_ort(table: Table, result: Result, kept: Made) -> Result:
    """What was kept, in the runtime's own format, once loaded by the engine."""
    made = table.workshop.as_ort(kept)
    candidate = made.candidate
    trial_load(candidate.directory, candidate.manifest, table.settings.engine, vad_model=table.order.vad_model)
    points = (
        msgspec.structs.replace(point, size_bytes=made.graph_bytes) if point.name == made.name else point
        for point in result.points
    )
    return replace(result, kept=made, points=tuple(points))


def _document(table: Table, result: Result) -> Document:
    order, recordings, searched = table.order, table.recordings, result.searched
    evaluation = recordings.evaluation
    processors = read_processors()
    features = common_features(processors)
    kept = result.kept
    return Document(
        created=dt.datetime.now().astimezone().isoformat(timespec="seconds"),
        command=order.command,
        versions=installed_versions(PACKAGES),
        processor=processors[0].name if processors else platform.machine(),
        has_vnni=features.dot_product if features and is_x86() else None,
        origin=origin_of(order.original),
        recipe=order.recipe,
        target=order.target.name,
        why=order.target.why,
        seed=order.seed,
        budget=order.budget,
        goal=order.goal if order.recipe == "auto" else "",
        metric=evaluation.metric if evaluation else "wer",
        normaliser=score([], [], evaluation.language).normaliser if evaluation else "",
        blocks=len(set(evaluation.blocks)) if evaluation else 0,
        kept=kept.name if kept else "",
        points=result.points,
        components=component_records(order.original, kept) if kept else (),
        nodes=node_records(searched, kept.name if kept else "") if searched else (),
        engine=msgspec.json.decode(msgspec.json.encode(table.settings.engine)) if evaluation else {},
        evaluation=audio_set(str(order.evaluation), evaluation.recordings) if evaluation else None,
        calibration=audio_set(recordings.calibration_source, recordings.calibration)
        if recordings.calibration
        else None,
        rescues=tuple(searched.rescues) if searched else (),
        blank_penalty=kept.candidate.manifest.blank_penalty if kept else 0.0,
        resources=_resources(table),
        notes=tuple(dict.fromkeys((*table.workshop.notes, *result.notes))),
    )


def _resources(table: Table) -> Resources:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Resources(
        wall_s=round(time.monotonic() - table.began_s, 1),
        cpu_s=round(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, 1),
        peak_memory_bytes=max(own.ru_maxrss, children.ru_maxrss) * 1024,
        peak_disk_bytes=table.peak_disk_bytes,
    )
