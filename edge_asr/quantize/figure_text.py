"""The figures of a quantization in words, the same on the page and on the terminal; pure."""

from __future__ import annotations

from edge_asr.quantize.document import ComponentRecord, Document, Point

MIB = 2**20


def headings(document: Document) -> list[str]:
    """Of the table of models."""
    judged = [document.metric.upper(), "Change, 95 % interval", "Sub", "Del", "Ins"]
    return ["Model", "Verdict", "Size", *judged, "Memory", "RTF, CPU", "Ratio"]


def accuracy_cells(point: Point) -> list[str]:
    """Error rate, change, and the three kinds of errors."""
    accuracy = point.accuracy
    if accuracy is None:
        return [""] * 5
    kinds = (accuracy.substitutions, accuracy.deletions, accuracy.insertions)
    return [rate_text(accuracy.error_rate), change_text(point), *map(str, kinds)]


def speed_cells(point: Point) -> list[str]:
    """Memory of a process with the model, real-time factor, and its ratio to the original's."""
    speed = point.speed
    if speed is None:
        return ["", "", ""]
    memory = f"{speed.resident_bytes / MIB:.0f} MiB" if speed.resident_bytes else ""
    ratio = "" if speed.ratio is None else f"{speed.ratio:.2f}"
    interval = "" if speed.low is None or speed.high is None else f" ({speed.low:.2f} to {speed.high:.2f})"
    return [memory, f"{speed.rtf_cpu:.4f}", ratio + interval]


def size_text(size_bytes: int) -> str:
    """In MiB."""
    return f"{size_bytes / MIB:.2f} MiB"


def rate_text(rate: float) -> str:
    """In per cent."""
    return f"{100 * rate:.2f} %"


def change_text(point: Point) -> str:
    """The difference from the original with its interval, in percentage points."""
    accuracy = point.accuracy
    if accuracy is None or point.verdict == "original":
        return ""
    return f"{100 * accuracy.difference:+.2f} ({100 * accuracy.low:+.2f} to {100 * accuracy.high:+.2f})"


def component_sentence(component: ComponentRecord) -> str:
    """What became of one file, for a terminal."""
    sizes = f"{size_text(component.original_bytes)} → {size_text(component.bytes)}"
    changed = operators_text(component)
    return f"{component.role}: {sizes}, {nodes_text(component)}" + (f"; {changed}" if changed else "")


def nodes_text(component: ComponentRecord) -> str:
    """How many nodes became what."""
    return ", ".join(f"{count} {choice}" for choice, count in sorted(component.nodes.items())) or "float32"


def operators_text(component: ComponentRecord) -> str:
    """Operators whose number changed, before and after."""
    before, after = component.operators_before, component.operators_after
    return ", ".join(
        f"{name} {before.get(name, 0)} → {after.get(name, 0)}"
        for name in sorted({*before, *after})
        if before.get(name, 0) != after.get(name, 0)
    )
