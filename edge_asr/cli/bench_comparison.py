"""``edge-asr bench compare``: two benches side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from edge_asr.cli.options import common_options, json_option
from edge_asr.errors import GateFailed, InputError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from edge_asr.bench.compare import Comparison, ConfigurationChange, FigureChange

_DOCUMENT = click.Path(path_type=Path, dir_okay=False)


class WithComparison(click.Command):
    """A command of its own, except when its first word is ``compare``."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401  click's own
    ) -> click.Context:
        """The context of the one or the other, which is what gets invoked."""
        if args[:1] == ["compare"]:
            return compare.make_context(f"{info_name} compare", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command()
@click.argument("before", type=_DOCUMENT, metavar="A.json")
@click.argument("after", type=_DOCUMENT, metavar="B.json")
@json_option
@common_options
def compare(before: Path, after: Path, as_json: bool) -> None:
    """Say what changed from one bench to another.

    Configurations are matched, repetitions and recordings paired. A figure is called better or worse only where the
    95 % interval of the difference excludes zero and the change is at least 3 % (any change, of error rates). Disturbed
    runs are shown and get no verdict. Exit code 6 if anything became worse, or could not be judged for a disturbance or
    for too few repetitions.
    Of a bench through the library and one through a daemon (--url), the difference is what the daemon costs.

    \b
    Example:
      edge-asr bench starter-en --json a.json
      edge-asr bench starter-en --threads 2 --json b.json
      edge-asr bench compare a.json b.json
      edge-asr bench compare library.json daemon.json
    """
    from edge_asr.bench.comparable import shared_clips, why_nothing_matches
    from edge_asr.bench.compare import compare_documents
    from edge_asr.bench.document import read_document

    first, second = read_document(before), read_document(after)
    comparison = compare_documents(first, second)
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(_as_document(comparison)), indent=2).decode())
    else:
        render(comparison)
    if not comparison.changes:
        reasons = why_nothing_matches(first.results, second.results)
        raise InputError(
            f"no configuration of one bench matches one of the other ({reasons}); measure the same models, modes and "
            "streams"
        )
    if not shared_clips(first, second):
        raise InputError("the benches have no recording in common; give both the same --audio")
    if comparison.has_regression:
        raise GateFailed(f"worse: {_names(comparison)}")
    if not comparison.is_valid:
        raise GateFailed("the runs were disturbed or are missing: no verdict; run the benches again")
    if not comparison.is_decided:
        raise GateFailed("too few repetitions to judge times or memory; run both benches with more (--repeat)")


def render(comparison: Comparison) -> None:
    """Print to standard output."""
    from rich.text import Text

    from edge_asr.cli.console import results_console

    console = results_console()
    for difference in comparison.differences:
        console.print(Text(f"! {difference}", style="yellow"))
    for change in comparison.changes:
        for part in _change(change):
            console.print(part)
    for when, alone in (("first", comparison.only_before), ("second", comparison.only_after)):
        for configuration in alone:
            console.print(Text(f"only in the {when}: {configuration.label()}", style="dim"))


def _change(change: ConfigurationChange) -> Iterator[RenderableType]:
    from rich.text import Text

    before, after = change.before.label(), change.after.label()
    yield Text(before if before == after else f"{before}  →  {after}", style="bold")
    for note in change.notes:
        yield Text(f"! {note}", style="yellow")
    if change.figures:
        yield _figures(change)


def _figures(change: ConfigurationChange) -> Table:
    from rich.table import Table
    from rich.text import Text

    from edge_asr.bench.figure_text import title_of

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (("figure", "left"), ("before", "right"), ("after", "right"), ("change, 95 %", "right")):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    table.add_column("verdict")
    for figure in change.figures:
        table.add_row(title_of(figure.name), *_numbers(figure), Text(_verdict(figure), style=_STYLES[figure.verdict]))
    return table


def _numbers(figure: FigureChange) -> tuple[str, str, str]:
    from edge_asr.bench.figure_text import quantity

    change = figure.change
    if change is None:
        return "-", "-", "-"
    before, after = quantity(change.before, figure.unit), quantity(change.after, figure.unit)
    if change.ratio is None or change.ratio_interval is None or figure.unit == "share":
        low, high = change.difference_interval.low, change.difference_interval.high
        scale, unit = (100, " points") if figure.unit == "share" else (1, "")
        return before, after, f"{change.difference * scale:+.3g} ({low * scale:+.3g} to {high * scale:+.3g}){unit}"
    interval = change.ratio_interval
    return before, after, f"{change.ratio - 1:+.1%} ({interval.low - 1:+.1%} to {interval.high - 1:+.1%})"


def _verdict(figure: FigureChange) -> str:
    words = {"no_difference_found": "no difference found", "invalid": "INVALID, no verdict"}
    verdict = words.get(figure.verdict, figure.verdict)
    return f"{verdict}: {figure.note}" if figure.note else verdict


_STYLES = {
    "better": "green",
    "worse": "bold red",
    "no_difference_found": "",
    "invalid": "bold red",
    "undecided": "dim",
}


def _names(comparison: Comparison) -> str:
    worse = comparison.verdicts("worse")
    return ", ".join(f"{figure.name} of {change.after.label()}" for change, figure in worse)


def _as_document(comparison: Comparison) -> dict[str, object]:
    return {
        "is_valid": comparison.is_valid,
        "has_regression": comparison.has_regression,
        "differences": comparison.differences,
        "changes": comparison.changes,
        "only_before": comparison.only_before,
        "only_after": comparison.only_after,
    }
