"""What ``edge-asr models list`` and ``show`` say of a model, as plain values and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from edge_asr.cli.stores import active_name
from edge_asr.engines.providers import providers_of
from edge_asr.manifest import ModelManifest
from edge_asr.store.inspect import ModelReport, inspect_model
from edge_asr.store.store import InstalledModel, ModelStore

_UNITS = {"_hz": "Hz", "_ms": "ms"}
_BYTES_PER_STEP = 1000


def list_rows(store: ModelStore) -> list[dict[str, Any]]:
    """One row for each model that is installed or can be fetched, by name."""
    installed = {model.manifest.name: model for model in store.installed()}
    catalogue = store.catalogue()
    active = active_name(store)
    return [_row(name, installed.get(name), catalogue.get(name), active) for name in sorted({*installed, *catalogue})]


def _row(name: str, model: InstalledModel | None, catalogued: ModelManifest | None, active: str) -> dict[str, Any]:
    manifest = model.manifest if model else catalogued
    assert manifest is not None, "a name comes from the one or from the other"
    return {
        "name": name,
        "version": manifest.version,
        "family": manifest.family,
        "languages": list(manifest.languages),
        "installed": model is not None,
        "bundled": model is not None and model.is_bundled,
        "source": _source(manifest, model),
        "active": name == active,
        "summary": manifest.summary,
    }


def _source(manifest: ModelManifest, model: InstalledModel | None) -> str:
    """Where it comes from, in a word: the package, a kind of place on the network, or somebody's own files."""
    if model is not None and model.is_bundled:
        return "package"
    kind = manifest.source.kind
    return {"local": "imported", "url": "web", "bundled": "package"}.get(kind, kind)


def list_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The rows as a table; a star marks the active model."""
    width = max((len(row["name"]) for row in rows), default=0)
    source_width = max((len(row["source"]) for row in rows), default=0)
    for row in rows:
        mark = "*" if row["active"] else " "
        state = "bundled" if row["bundled"] else "installed" if row["installed"] else "-"
        yield f"{mark} {row['name']:<{width}}  {state:<9}  {row['source']:<{source_width}}  {row['summary']}"


def facts_of(store: ModelStore, name: str) -> dict[str, Any]:
    """Everything known of an installed model, or of one that can be fetched.

    Raises:
        ModelError: There is no such model, or the installed one is damaged.
    """
    catalogued = store.catalogue().get(name)
    if catalogued is not None and store.installed_or_none(name) is None:
        return {**_described(catalogued), "installed": False, "files": _files(catalogued)}
    model = store.resolve(name)
    return {
        **_described(model.manifest),
        "installed": True,
        "directory": str(model.directory),
        **inspected_facts(inspect_model(model.directory, model.manifest)),
        "files": _files(model.manifest),
    }


def inspected_facts(report: ModelReport) -> dict[str, Any]:
    """What the model's files themselves say."""
    timing = {
        "chunk_ms": report.chunk_ms,
        "lookahead_ms": report.lookahead_ms,
        "tail_padding_ms": report.tail_padding_ms,
    }
    return {
        "precision": report.precision,
        **(timing if report.kind == "streaming" else {}),
        "vocabulary": report.vocabulary,
        "opset": report.opset,
        "ir_version": report.ir_version,
        "size_bytes": report.total_bytes,
        "notes": list(report.notes),
    }


def _described(manifest: ModelManifest) -> dict[str, Any]:
    source = manifest.source
    return {
        "name": manifest.name,
        "version": manifest.version,
        "summary": manifest.summary,
        "family": manifest.family,
        "languages": list(manifest.languages),
        "sample_rate_hz": manifest.sample_rate_hz,
        "precision": manifest.precision,
        **({"chunk_ms": manifest.chunk_ms} if manifest.chunk_ms else {}),
        "providers": providers_of(manifest),
        "licence": manifest.licence,
        "source": source.requirement or source.url or source.repository or source.kind,
    }


def _files(manifest: ModelManifest) -> dict[str, Any]:
    return {role: msgspec.to_builtins(file) for role, file in manifest.files.items()}


def show_lines(facts: dict[str, Any]) -> Iterator[str]:
    """The facts as text: one line each, then the notes, then the files."""
    for key, value in facts.items():
        if key not in ("files", "notes"):
            yield _line(key, value)
    for note in facts.get("notes", ()):
        yield f"{'note':<16} {note}"
    for role, file in facts["files"].items():
        size = size_text(file["size_bytes"]) if file["size_bytes"] else "size known when fetched"
        yield f"  {role:<14} {file['path']}  {size}"


def _line(key: str, value: object) -> str:
    if key == "size_bytes" and isinstance(value, int):
        return f"{'size':<16} {size_text(value)}"
    for suffix, unit in _UNITS.items():
        if key.endswith(suffix):
            return f"{_words(key.removesuffix(suffix)):<16} {value:g} {unit}"
    return f"{_words(key):<16} {_plain(value)}"


def _words(key: str) -> str:
    return {"ir_version": "IR version", "lookahead": "look-ahead"}.get(key, key.replace("_", " "))


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def size_text(size_bytes: int) -> str:
    """Three digits or so, in powers of a thousand as shops and disks count."""
    size = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if size < _BYTES_PER_STEP:
            return f"{size:.3g} {unit}"
        size /= _BYTES_PER_STEP
    return f"{size:.3g} GB"
