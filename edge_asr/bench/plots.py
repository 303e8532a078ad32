"""All plots of a bench document, each with the sentence that stands where the document does not hold enough for it."""

from __future__ import annotations

from edge_asr.bench.course_plots import course_sections
from edge_asr.bench.distribution_plots import distribution_sections
from edge_asr.bench.document import Document
from edge_asr.bench.plot import Section
from edge_asr.bench.spinning_plots import spinning_section
from edge_asr.bench.stage_plots import stage_section
from edge_asr.bench.sweep_plots import sweep_sections


def sections(document: Document) -> tuple[Section, ...]:
    """In the order of a report."""
    results = document.results
    return (
        *sweep_sections(results),
        *distribution_sections(results),
        stage_section(results),
        spinning_section(results),
        *course_sections(results),
    )
