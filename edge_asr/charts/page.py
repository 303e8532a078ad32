"""The frame of a report: one self-contained HTML page, no script, no external resource, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from edge_asr.charts.style import STYLE

_RIGHT = " class='number'"


def page(title: str, body: Iterable[str]) -> str:
    """The whole page.

    Args:
        title: Plain text.
        body: HTML.
    """
    css = STYLE + files("edge_asr.charts").joinpath("page.css").read_text(encoding="utf-8")
    content = "\n".join(body)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{css}</style>\n</head>\n<body>\n{content}\n</body>\n</html>\n"
    )


def table(head: Sequence[str], rows: Iterable[str], numbers: Iterable[int] = ()) -> str:
    """A table that scrolls sideways on a narrow page.

    Args:
        head: Headings, plain text.
        rows: HTML, one ``<tr>`` each.
        numbers: Columns that are aligned to the right.
    """
    right = set(numbers)
    cells = "".join(
        f"<th scope='col'{_RIGHT if index in right else ''}>{escape(text)}</th>" for index, text in enumerate(head)
    )
    return f"<div class='wide'><table><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"


def number(text: str) -> str:
    """A cell aligned to the right; plain text."""
    return f"<td class='number'>{escape(text)}</td>"
