"""The figures and ratios as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tools.peers_bench.comparison import Figures, Ratio

MOST_FOREIGN_SHARE = 0.05
"""Above it a figure by itself says little; ratios of alternating runs still do."""


def figures_table(figures: Sequence[Figures], streams: Sequence[tuple[str, str, int]]) -> str:
    """One row for each peer and model."""
    header = (
        *("model", "recogniser", "RTF", "RTF of CPU", "CPU live, % of a core", "last audio to final, ms"),
        *("peak memory, MiB", "live streams", "WER", "others' share of the machine"),
    )
    rows = [
        (
            each.model,
            each.peer,
            _number(each.rtf_wall, ".3f"),
            _number(each.rtf_cpu, ".3f"),
            _number(each.live_cpu and 100 * each.live_cpu, ".1f"),
            _number(each.flush_ms, ".0f"),
            _number(each.peak_mib, ".0f"),
            ", ".join(str(most) for peer, model, most in streams if (peer, model) == (each.peer, each.model)),
            _number(each.wer, ".1%"),
            _number(each.foreign_share, ".0%"),
        )
        for each in figures
    ]
    return _markdown(header, rows)


def ratios_table(ratios: Iterable[Ratio]) -> str:
    """One row for each comparison and model."""
    header = ("ratio", "model", "edge-asr", "over", "value", "95 % interval")
    rows = [
        (
            ratio.name,
            ratio.model,
            ratio.ours.removeprefix("edge-asr "),
            ratio.theirs,
            f"{ratio.value:.2f}",
            f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio.low is not None and ratio.high is not None else "",
        )
        for ratio in ratios
    ]
    return _markdown(header, rows)


def load_note(shares: Sequence[float]) -> str:
    """What else ran on the machine."""
    if not shares:
        return ""
    middle = sorted(shares)[len(shares) // 2]
    sentence = (
        f"Others used {middle:.0%} of the machine's processor time in the middle pass, "
        f"{min(shares):.0%} to {max(shares):.0%} over all."
    )
    if max(shares) > MOST_FOREIGN_SHARE:
        sentence += " Single figures are therefore disturbed; the ratios come from alternating runs."
    return sentence


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def _number(value: float | None, layout: str) -> str:
    return "" if value is None else format(value, layout)
