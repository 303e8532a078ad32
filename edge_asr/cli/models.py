"""``edge-asr models``: what is installed, what can be fetched, and which one is used."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
import msgspec

from edge_asr.cli.options import Invocation, common_options, json_option, pass_invocation
from edge_asr.cli.progress import download_progress
from edge_asr.cli.stores import VAD_MODEL, active_name, installed_vad, open_store
from edge_asr.errors import EdgeAsrError, ModelNotFound
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings
from edge_asr.store.store import InstalledModel, ModelStore

_MIB = 1 << 20


@click.group()
@common_options
def models() -> None:
    """List, fetch, check and switch models.

    \b
    Example:
      edge-asr models pull moonshine-tiny-en
    """


@models.command("list")
@common_options
@json_option
def list_models(*, as_json: bool) -> None:
    """List installed models, and those that can be fetched.

    \b
    Example:
      edge-asr models list
    """
    store = open_store()
    rows = _rows(store)
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        mark = "*" if row["active"] else " "
        state = "bundled" if row["bundled"] else "installed" if row["installed"] else "-"
        click.echo(f"{mark} {row['name']:<{width}}  {state:<9}  {row['summary']}")


@models.command()
@common_options
@json_option
@click.argument("name", metavar="MODEL")
def show(*, name: str, as_json: bool) -> None:
    """Show what a model is: family, chunk, look-ahead, files, licence.

    \b
    Example:
      edge-asr models show starter-en
    """
    store = open_store()
    facts = _facts_of_catalogued(store, name) or _facts_of_installed(store.resolve(name))
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    for key, value in facts.items():
        if key == "files":
            for role, file in value.items():
                click.echo(f"  {role:<14} {file['path']}  {file['size_bytes'] / _MIB:.1f} MiB")
        else:
            click.echo(f"{key.replace('_', ' '):<16} {_plain(value)}")


@models.command()
@common_options
@click.argument("name", metavar="MODEL")
def pull(*, name: str) -> None:
    """Fetch a model of the catalogue; an interrupted download is continued.

    \b
    Example:
      edge-asr models pull moonshine-tiny-en
    """
    store = open_store()
    installed = store.installed_or_none(name)
    if installed is not None and installed.is_bundled:
        click.echo(f"{name} is part of the package; there is nothing to fetch", err=True)
        return
    manifest = store.catalogue().get(name)
    if manifest is None:
        store.find(name)  # names what was meant, or says that there is nothing of the kind
        raise ModelNotFound(name, "it is not in the catalogue; `edge-asr models import` takes a directory or archive")
    if installed is not None and installed.manifest.version == manifest.version:
        click.echo(f"{name} {manifest.version} is installed already in {installed.directory}", err=True)
        return
    _pull(store, manifest)


@models.command("import")
@common_options
@click.option("--name", metavar="NAME", help="Store name; the directory's or archive's name when omitted.")
@click.option("--language", "languages", multiple=True, metavar="TAG", help="Language, such as en; may be repeated.")
@click.argument("source", metavar="DIR|ARCHIVE", type=click.Path(exists=True, path_type=Path))
def import_model(*, source: Path, name: str | None, languages: tuple[str, ...]) -> None:
    """Install a model from a directory or an archive; its family is found by looking into the files.

    \b
    Example:
      edge-asr models import sherpa-onnx-streaming-zipformer-en-20M-2023-02-17.tar.bz2
    """
    from edge_asr.store.importing import import_archive, import_directory, store_name

    store = open_store()
    wanted = name or store_name(source.name)
    bring = import_directory if source.is_dir() else import_archive
    model = store.install(wanted, lambda directory: bring(source, directory, wanted, languages or ("und",)))
    click.echo(f"installed {wanted} ({model.manifest.family}) in {model.directory}", err=True)
    click.echo(wanted)


@models.command()
@common_options
@pass_invocation
@json_option
@click.argument("names", metavar="[MODEL]...", nargs=-1)
def verify(invocation: Invocation, *, names: tuple[str, ...], as_json: bool) -> None:
    """Check every file, look into the graphs, and load the model in a process of its own.

    \b
    Example:
      edge-asr models verify starter-en
    """
    store = open_store()
    chosen = [store.resolve(name) for name in names] or store.installed()
    settings = invocation.configuration().settings.engine
    failures: list[EdgeAsrError] = []
    results = []
    for model in chosen:
        try:
            results.append({"model": model.manifest.name, "ok": True, **_verify(model, settings)})
        except EdgeAsrError as error:
            failures.append(error)
            results.append({"model": model.manifest.name, "ok": False, "code": error.code, "message": str(error)})
        if not as_json and results[-1]["ok"]:
            click.echo(f"{model.manifest.name}: whole, and it loads")
    if as_json:
        click.echo(json.dumps(results, indent=2))
    for failure in failures[:-1]:
        click.echo(f"edge-asr: error: {failure}", err=True)
    if failures:
        raise failures[-1]


@models.command()
@common_options
@click.argument("name", metavar="MODEL")
def activate(*, name: str) -> None:
    """Make a model the one that is used when none is named.

    \b
    Example:
      edge-asr models activate moonshine-tiny-en
    """
    store = open_store()
    _announce(store.activate(name))


@models.command()
@common_options
def rollback() -> None:
    """Go back to the model that was active before.

    \b
    Example:
      edge-asr models rollback
    """
    _announce(open_store().rollback())


@models.command()
@common_options
@click.argument("name", metavar="MODEL")
def remove(*, name: str) -> None:
    """Remove an installed model.

    \b
    Example:
      edge-asr models remove moonshine-tiny-en
    """
    open_store().remove(name)
    click.echo(f"removed {name}", err=True)


def _pull(store: ModelStore, manifest: ModelManifest) -> None:
    from edge_asr.store.fetch import HUGGINGFACE, fetch_model, unrecorded_files

    downloads = store.writable_root / "downloads"
    hub = os.environ.get("HF_ENDPOINT", HUGGINGFACE).rstrip("/")
    with download_progress() as progress:
        model = store.install(
            manifest.name, lambda directory: fetch_model(manifest, directory, downloads, progress, hub)
        )
    unrecorded = unrecorded_files(manifest)
    if unrecorded:
        click.echo(
            f"the catalogue knows no digest of {', '.join(unrecorded)}: what came now was recorded in the manifest, "
            "and `edge-asr models verify` compares with that",
            err=True,
        )
    click.echo(f"installed {manifest.name} {manifest.version} in {model.directory}", err=True)
    if FAMILIES[manifest.family].kind == "segment" and installed_vad(store) is None:
        click.echo(f"it hears better where speech begins and ends with: edge-asr models pull {VAD_MODEL}", err=True)


def _announce(model: InstalledModel) -> None:
    click.echo(f"{model.manifest.name} is active; a running daemon takes it when it is started again", err=True)
    click.echo(model.manifest.name)


def _verify(model: InstalledModel, settings: EngineSettings) -> dict[str, object]:
    from edge_asr.store.digest import check_files
    from edge_asr.store.inspect import inspect_model

    check_files(model.manifest, model.directory)
    inspect_model(model.directory, model.manifest)
    if FAMILIES[model.manifest.family].kind == "vad":
        return {}
    from edge_asr.engines.trial import trial_load

    described = trial_load(model.directory, model.manifest, settings)
    return {"provider": described.provider, "chunk_ms": described.chunk_ms}


def _rows(store: ModelStore) -> list[dict[str, Any]]:
    installed = {model.manifest.name: model for model in store.installed()}
    catalogue = store.catalogue()
    active = active_name(store)
    rows = []
    for name in sorted({*installed, *catalogue}):
        model = installed.get(name)
        manifest = model.manifest if model else catalogue[name]
        rows.append(
            {
                "name": name,
                "version": manifest.version,
                "family": manifest.family,
                "languages": list(manifest.languages),
                "installed": model is not None,
                "bundled": model is not None and model.is_bundled,
                "active": name == active,
                "summary": manifest.summary,
            }
        )
    return rows


def _facts_of_catalogued(store: ModelStore, name: str) -> dict[str, Any] | None:
    """What the catalogue says of a model that is not installed."""
    manifest = store.catalogue().get(name)
    if manifest is None or store.installed_or_none(name) is not None:
        return None
    return {**_described(manifest), "installed": False, "files": msgspec.to_builtins(manifest.files)}


def _facts_of_installed(model: InstalledModel) -> dict[str, Any]:
    from edge_asr.store.inspect import inspect_model

    report = inspect_model(model.directory, model.manifest)
    return {
        **_described(model.manifest),
        "installed": True,
        "directory": str(model.directory),
        "chunk_ms": report.chunk_ms,
        "lookahead_ms": report.lookahead_ms,
        "tail_padding_ms": report.tail_padding_ms,
        "size_bytes": report.total_bytes,
        "files": msgspec.to_builtins(model.manifest.files),
    }


def _described(manifest: ModelManifest) -> dict[str, Any]:
    return {
        "name": manifest.name,
        "version": manifest.version,
        "summary": manifest.summary,
        "family": manifest.family,
        "languages": list(manifest.languages),
        "sample_rate_hz": manifest.sample_rate_hz,
        "precision": manifest.precision,
        "licence": manifest.licence,
        "source": manifest.source.requirement
        or manifest.source.url
        or manifest.source.repository
        or manifest.source.kind,
    }


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
