"""What two benches have in common, and in what they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from edge_asr.bench.document import Configuration, Document, Result

_MATCHES: tuple[tuple[str, ...], ...] = (
    Configuration.__struct_fields__,
    ("model", "second_pass", "mode", "door", "streams", "provider", "threads"),
    ("model", "second_pass", "mode", "streams", "piece_ms", "provider", "threads"),
    ("model", "second_pass", "mode", "door", "streams"),
    ("model", "second_pass", "mode", "streams"),
    ("model", "mode", "streams"),
    ("mode", "door", "streams"),
)
"""Fields that must be equal, the strictest first: what was varied between two benches is what is compared."""


def matched(
    before: Sequence[Result], after: Sequence[Result]
) -> tuple[list[tuple[Result, Result]], list[Result], list[Result]]:
    """Pair the results of two benches; what has no partner, or several, stays over.

    Returns:
        Pairs in the order of the first bench, and the rest of either.
    """
    pairs: list[tuple[Result, Result]] = []
    left, right = list(before), list(after)
    for fields in _MATCHES:
        for first in list(left):
            key = _key(first, fields)
            rivals = [result for result in left if _key(result, fields) == key]
            partners = [result for result in right if _key(result, fields) == key]
            if len(rivals) == len(partners) == 1:
                pairs.append((first, partners[0]))
                left.remove(first)
                right.remove(partners[0])
    order = [id(result) for result in before]
    return sorted(pairs, key=lambda pair: order.index(id(pair[0]))), left, right


def shared_clips(before: Document, after: Document) -> frozenset[str]:
    """Names of the recordings that both heard, and that are the same to the byte."""
    first, second = ({clip.name: clip.sha256 for clip in document.workload.clips} for document in (before, after))
    return frozenset(name for name in first if first[name] == second.get(name))


def why_nothing_matches(before: Sequence[Result], after: Sequence[Result]) -> str:
    """In what two benches without a pair differ, such as ``streams 1 and 4``."""
    reasons = []
    for field in ("model", "mode", "streams"):
        first, second = ({getattr(one.configuration, field): None for one in side} for side in (before, after))
        if not first.keys() & second.keys():
            reasons.append(f"{field} {_listed(first)} and {_listed(second)}")
    return "; ".join(reasons) or "several of one are like one of the other"


def differences(before: Document, after: Document) -> Iterator[str]:
    """Sentences on board, models, audio, normaliser and versions; none when all are the same."""
    yield from _board(before.board, after.board)
    yield from _models(before, after)
    shared = shared_clips(before, after)
    counts = len(before.workload.clips), len(after.workload.clips)
    if counts != (len(shared), len(shared)):
        yield f"different audio: {counts[0]} and {counts[1]} recordings, {len(shared)} of them in both and compared"
    if before.workload.normaliser != after.workload.normaliser:
        yield f"different normaliser: {before.workload.normaliser} and {after.workload.normaliser}"
    for name in sorted(before.versions.keys() | after.versions.keys()):
        first, second = before.versions.get(name, "none"), after.versions.get(name, "none")
        if first != second:
            yield f"different {name}: {first} and {second}"


def _key(result: Result, fields: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(result.configuration, field) for field in fields)


def _board(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    changed = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    if "model" in changed:
        yield f"different board: {before.get('model')} and {after.get('model')}"
    elif changed:
        yield f"the same board, with different {', '.join(name.replace('_', ' ') for name in changed)}"


def _models(before: Document, after: Document) -> Iterator[str]:
    first, second = ({model.name: model for model in document.models} for document in (before, after))
    if not first or not second:
        which = "second" if first else "first"
        yield f"the files of the model of the {which} bench are not known: it was measured through a daemon elsewhere"
        return
    if not first.keys() & second.keys():
        yield f"different models: {', '.join(first)} and {', '.join(second)}"
    for name in sorted(first.keys() & second.keys()):
        if first[name].files != second[name].files:
            yield f"{name} has different files: version {first[name].version} and {second[name].version}"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values)) or "none"
