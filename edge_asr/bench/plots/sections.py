"""All plots of a bench document, each with the sentence that stands where the document does not hold enough for it."""

from __future__ import annotations

from edge_asr.bench.document import Document
from edge_asr.bench.plots.courses import course_sections
from edge_asr.bench.plots.distributions import distribution_sections
from edge_asr.bench.plots.plot import Section
from edge_asr.bench.plots.spinning import spinning_section
from edge_asr.bench.plots.stages import stage_section
from edge_asr.bench.plots.sweeps import sweep_sections


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
