"""What ``batch`` says at its end. Pure."""

from __future__ import annotations

import json

from edge_asr.batch.foreman import Report
from edge_asr.bench.wording import counted
from edge_asr.filenames import from_text, readable


def sentence(report: Report, wall_s: float) -> str:
    """One line for people."""
    said = [f"{report.done} heard, {_duration(report.audio_s)} of audio in {_duration(wall_s)}"]
    if report.done_before:
        said.append(f"{report.done_before} heard before")
    if report.warnings:
        said.append(f"{counted(report.warnings, 'warning')} in the transcripts")
    if report.lost_workers:
        said.append(f"{counted(report.lost_workers, 'worker')} lost and replaced")
    if report.bad:
        said.append(f"{len(report.bad)} could not be used")
    return "; ".join(said)


def json_report(report: Report, wall_s: float, crew: str) -> str:
    """One JSON document for programs."""
    document = {
        "done": report.done,
        "done_before": report.done_before,
        "bad": [
            {"file": readable(from_text(entry.file)), "code": entry.code, "message": entry.message}
            for entry in report.bad
        ],
        "audio_s": round(report.audio_s, 3),
        "wall_s": round(wall_s, 3),
        "lost_workers": report.lost_workers,
        "warnings": report.warnings,
        "crew": crew,
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
