"""Names of configurations beside each other: what tells them apart, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from edge_asr.bench.document import Configuration

_PARTS: tuple[tuple[str, Callable[[Configuration], str]], ...] = (
    ("model", lambda it: it.model),
    ("second_pass", lambda it: f"then {it.second_pass}" if it.second_pass else "no second pass"),
    ("mode", lambda it: it.mode),
    ("door", lambda it: "through the daemon" if it.door == "daemon" else "through the library"),
    ("provider", lambda it: it.provider),
    ("threads", lambda it: f"{it.threads} thread{'' if it.threads == 1 else 's'}"),
    ("cpus", lambda it: f"on {','.join(map(str, it.cpus))}" if it.cpus else "unpinned"),
    ("streams", lambda it: f"{it.streams} stream{'' if it.streams == 1 else 's'}"),
    ("piece_ms", lambda it: f"{it.piece_ms} ms pieces"),
    ("max_batch", lambda it: f"batch {it.max_batch}"),
    ("window_ms", lambda it: f"{it.window_ms} ms window"),
    ("allow_spinning", lambda it: "spinning" if it.allow_spinning else "not spinning"),
)


def distinct_labels(configurations: Sequence[Configuration], leave_out: frozenset[str] = frozenset()) -> list[str]:
    """One label for each, of those parts in which they differ; the whole label where there is nothing to tell apart.

    Args:
        configurations: Those that stand beside each other.
        leave_out: Names of fields that are shown otherwise, such as by an axis.
    """
    different = [
        write
        for name, write in _PARTS
        if name not in leave_out and len({getattr(it, name) for it in configurations}) > 1
    ]
    if not different:
        return [it.label() for it in configurations]
    return [" · ".join(write(it) for write in different) for it in configurations]


def common_label(configurations: Sequence[Configuration]) -> str:
    """What their labels have in common, such as ``starter-en · paced``."""
    first, *others = [it.label().split(" · ") for it in configurations]
    return " · ".join(part for part in first if all(part in other for other in others))


def headed_labels(configurations: Sequence[Configuration]) -> tuple[str, list[str]]:
    """Their whole labels, with what all begin with taken out as a heading; each keeps at least its last part."""
    if len(configurations) == 1:
        return "", [configurations[0].label()]
    labels = [it.label().split(" · ") for it in configurations]
    shared = 0
    while len({tuple(parts[: shared + 1]) for parts in labels}) == 1 and all(len(it) > shared + 1 for it in labels):
        shared += 1
    return " · ".join(labels[0][:shared]), [" · ".join(parts[shared:]) for parts in labels]
