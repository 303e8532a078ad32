"""A bench as Markdown, for an issue or a wiki: the same table, the same honesty."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from edge_asr.bench.document import Document, ModelIdentity, Result
from edge_asr.bench.fact_text import board_name
from edge_asr.bench.figure_text import faults, grouped, interval_text, quantity, title_of, value_text, verdict
from edge_asr.bench.overview import COLUMNS, LEGEND, cells, filled_columns

_HASH_DIGITS = 12


def render_markdown(document: Document) -> str:
    """The whole text, with a line break at its end."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Document) -> Iterator[str]:
    yield "## edge-asr bench"
    yield ""
    yield from _verdict(document)
    yield ""
    yield from _overview(document.results)
    yield ""
    yield _text(LEGEND)
    for note in document.notes:
        yield ""
        yield _text(note)
    for result in document.results:
        yield ""
        yield from _configuration(result)
    yield ""
    yield from _circumstances(document)


def _verdict(document: Document) -> Iterator[str]:
    if document.is_valid:
        yield _text(verdict(document))
        return
    yield f"> **{_text(verdict(document))}**"
    for result in document.results:
        yield from (f"> - {_text(f'{result.configuration.label()}: {fault}')}" for fault in faults(result))


def _overview(results: tuple[Result, ...]) -> Iterator[str]:
    shown = filled_columns(results)
    head = ["configuration", "valid", *(COLUMNS[index].title for index in shown)]
    rows = []
    for result in results:
        row = cells(result)
        mark = "yes" if result.is_valid else "**NO**"
        rows.append([_text(result.configuration.label()), mark, *(_text(row[index]) for index in shown)])
    yield from _table(head, rows, numbers=range(2, len(shown) + 2))


def _configuration(result: Result) -> Iterator[str]:
    """Folded, as pages that render Markdown mostly can."""
    mark = "" if result.is_valid else " (invalid)"
    yield f"<details><summary>{_text(result.configuration.label())}{mark}</summary>"
    yield ""
    yield from (f"- **invalid:** {_text(fault)}" for fault in faults(result))
    if not result.is_valid:
        yield ""
    rows = [
        [
            _text(title_of(name)) + mark,
            _text(value_text(figure)),
            _text(interval_text(figure)),
            str(figure.n or ""),
            _text("" if figure.value is None else figure.note),
        ]
        for _, members in grouped(result.figures)
        for name, figure in members
    ]
    if rows:
        yield from _table(["figure", "value", "95 % interval", "n", "note"], rows, numbers=(1, 2, 3))
    else:
        yield "It has no figures."
    yield ""
    yield "</details>"


def _circumstances(document: Document) -> Iterator[str]:
    clips = document.workload.clips
    audio = quantity(sum(clip.audio_s for clip in clips), "s")
    yield f"- measured: {_text(document.created)}, seed {document.seed}"
    yield f"- board: {_text(board_name(document.board) or 'not named')}"
    yield f"- versions: {_text(', '.join(f'{name} {version}' for name, version in document.versions.items()))}"
    yield from (f"- model: {_text(_model(model))}" for model in document.models)
    workload = document.workload
    yield f"- workload: {_text(f'{workload.source}, {len(clips)} clips, {audio}, scored with {workload.normaliser}')}"
    yield f"- to repeat it: {_code(shlex.join(document.command))}"


def _model(model: ModelIdentity) -> str:
    hashes = ", ".join(f"{role} {digest[:_HASH_DIGITS]}" for role, digest in model.files.items())
    return f"{model.name} {model.version} ({model.family}, {model.precision}; sha256 of {hashes})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int]) -> Iterator[str]:
    right = set(numbers)
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---:' if index in right else '---' for index in range(len(head)))}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _text(text: str) -> str:
    """On one line, with what Markdown or HTML would read as markup escaped."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{character}" if character in "\\`*_[]|~#" else character for character in plain)


def _code(text: str) -> str:
    """As code, between more backticks than it holds in a row."""
    plain = " ".join(text.split())
    fence = "`"
    while fence in plain:
        fence += "`"
    padding = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{padding}{plain}{padding}{fence}"
