"""``edge-asr models``: what is installed, what can be fetched, and which one is used."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from edge_asr.cli.messages import complain, remark, warn
from edge_asr.cli.options import DEFAULT_MAX_WER, FiniteRange, Invocation, common_options, json_option, pass_invocation
from edge_asr.cli.progress import download_progress
from edge_asr.cli.stores import open_store
from edge_asr.errors import ConfigurationError, EdgeAsrError, ModelDamaged, ModelNotFound
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest, read_manifest
from edge_asr.settings import EngineSettings
from edge_asr.store.store import InstalledModel, ModelStore, likely_meant
from edge_asr.store.voice_activity import VAD_MODEL, installed_vad


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
    from edge_asr.cli.model_facts import list_lines, list_rows

    store = open_store()
    rows = list_rows(store)
    _print(rows, list_lines(rows), as_json=as_json)
    for error in store.damaged().values():
        warn(str(error))


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
    from edge_asr.cli.model_facts import facts_of, show_lines

    facts = facts_of(open_store(), name)
    _print(facts, show_lines(facts), as_json=as_json)


@models.command()
@common_options
@click.argument("name", metavar="MODEL|MANIFEST.toml")
def pull(*, name: str) -> None:
    """Fetch a model of the catalogue.

    Or one of a manifest of your own. An interrupted download is continued.

    \b
    Example:
      edge-asr models pull moonshine-tiny-en
    """
    store = open_store()
    if name.endswith(".toml"):
        manifest = read_manifest(Path(name))
    else:
        manifest = store.catalogue().get(name) or _not_in_the_catalogue(store, name)
    if not _is_there(store, manifest):
        _fetch(store, manifest)


@models.command("import")
@common_options
@click.option("--name", metavar="NAME", help="Store name; the directory's or archive's name when omitted.")
@click.option("--language", "languages", multiple=True, metavar="TAG", help="Language, such as en; may be repeated.")
@click.argument("source", metavar="DIR|ARCHIVE", type=click.Path(exists=True, path_type=Path))
def import_model(*, source: Path, name: str | None, languages: tuple[str, ...]) -> None:
    """Install a model from a directory or archive.

    Its family is found by looking into the files.

    \b
    Example:
      edge-asr models import sherpa-onnx-streaming-zipformer-en-20M-2023-02-17.tar.bz2
    """
    from edge_asr.store.importing import import_archive, import_directory, store_name

    store = open_store()
    wanted = name or store_name(source)
    _refuse_to_shadow(store, wanted)
    bring = import_directory if source.is_dir() else import_archive
    model = store.install(wanted, lambda directory: bring(source, directory, wanted, languages))
    remark(f"installed {wanted} ({model.manifest.family}) in {model.directory}")
    click.echo(wanted)


@models.command()
@common_options
@pass_invocation
@json_option
@click.argument("names", metavar="[MODEL]...", nargs=-1)
def verify(invocation: Invocation, *, names: tuple[str, ...], as_json: bool) -> None:
    """Check that models are whole and load.

    Every file is checked, the graphs are looked into, and the model is loaded in a process of its own.

    \b
    Example:
      edge-asr models verify starter-en
    """
    store = open_store()
    settings = invocation.configuration().settings.engine
    results: list[dict[str, object]] = []
    failures: list[EdgeAsrError] = []
    for name in names or sorted({*(model.manifest.name for model in store.installed()), *store.damaged()}):
        try:
            results.append({"model": name, "ok": True, **_verify(store.resolve(name), settings)})
        except EdgeAsrError as error:
            failures.append(error)
            results.append({"model": name, "ok": False, "code": error.code, "message": str(error)})
    _print(results, (f"{result['model']}: {result['verdict']}" for result in results if result["ok"]), as_json=as_json)
    for failure in failures[:-1]:
        complain(str(failure))
    if failures:
        raise failures[-1]


@models.command()
@common_options
@pass_invocation
@click.option(
    "--max-wer",
    type=FiniteRange(0, 1),
    default=DEFAULT_MAX_WER,
    show_default=True,
    help="Highest word error rate on the bundled recordings; 1 where the model is made for other words.",
)
@click.option(
    "--watch",
    metavar="DURATION",
    help="Stay so long (60s, 10m), and go back to the model before if the daemon's worker ends or live steps are late.",
)
@click.argument("name", metavar="MODEL")
def activate(invocation: Invocation, *, max_wer: float, watch: str | None, name: str) -> None:
    """Make a model the one that is used when none is named.

    Before that it is tried: it is loaded, hears the bundled recordings, and must understand them (where they are in
    its language) within the memory there is. Nothing is timed, since a daemon may be at work; selftest does that.
    A daemon that runs on this machine does it and changes over without losing a session. `transcribe` without -m
    prefers moonshine-tiny-en, where it is installed, to the active model.

    \b
    Example:
      edge-asr models activate moonshine-tiny-en
      edge-asr models activate my-commands --max-wer 1
      edge-asr models activate kitchen-2026.12 --watch 10m
    """
    from edge_asr.cli import activation
    from edge_asr.cli.durations import parse_duration_s

    watch_s = parse_duration_s(watch, "--watch") if watch is not None else 0.0
    try:
        settings = invocation.configuration({"model": ("MODEL", name)}).settings
    except ConfigurationError as error:
        raise ConfigurationError(f"{name} is not activated, since the configuration is wrong: {error}") from error
    store = open_store()
    daemon = activation.daemon_of_this_store(store, settings.server.admin_socket)
    if daemon is not None:
        _tell(daemon.activate(name, max_wer))
        if watch_s:
            activation.watch(daemon, watch_s, time.monotonic, time.sleep)
        return
    if watch is not None:
        remark("no daemon runs here, so there is nothing to watch")
    activation.activate_here(store, name, settings, max_wer)
    _announce(store.activate(name))


@models.command()
@common_options
@pass_invocation
def rollback(invocation: Invocation) -> None:
    """Go back to the model that was active before.

    Also in a daemon that runs on this machine.

    \b
    Example:
      edge-asr models rollback
    """
    from edge_asr.cli.activation import daemon_of_this_store

    store = open_store()
    daemon = daemon_of_this_store(store, invocation.configuration().settings.server.admin_socket)
    if daemon is not None:
        _tell(daemon.rollback())
        return
    _announce(store.rollback())


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
    remark(f"removed {name}")


def _print(facts: object, lines: Iterable[str], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    for line in lines:
        click.echo(line)


def _refuse_to_shadow(store: ModelStore, name: str) -> None:
    """A model of the package would be hidden by an imported one of its name, and nobody would know which one it is."""
    installed = store.installed_or_none(name)
    if installed is not None and installed.is_bundled:
        raise ConfigurationError(f"model {name!r} is part of the package; import yours by another name with --name")
    if installed is not None:
        remark(f"{name} replaces the model of that name in {installed.directory}")


def _not_in_the_catalogue(store: ModelStore, name: str) -> ModelManifest:
    """The manifest of an installed model that was not fetched; there is no other way to go on."""
    installed = store.installed_or_none(name)
    if installed is not None and installed.is_bundled:
        return installed.manifest
    if installed is not None:
        raise ConfigurationError(
            f"model {name!r} was imported, so that there is nowhere to fetch it from; it is in {installed.directory}"
        )
    names = sorted(store.catalogue())
    close = likely_meant(name, names)
    hint = f"did you mean {close!r}? " if close else ""
    raise ModelNotFound(name, f"{hint}what can be fetched is: {', '.join(names)}")


def _is_there(store: ModelStore, manifest: ModelManifest) -> bool:
    """Whether this version is installed and whole."""
    from edge_asr.store.digest import check_files

    installed = store.installed_or_none(manifest.name)
    if installed is None or installed.manifest.version != manifest.version:
        return False
    try:
        check_files(installed.manifest, installed.directory)
    except ModelDamaged as error:
        if installed.is_bundled:
            raise
        warn(f"fetching it again: {error}")
        return False
    place = "part of the package" if installed.is_bundled else f"installed already in {installed.directory}"
    remark(f"{manifest.name} {manifest.version} is {place}; there is nothing to fetch")
    return True


def _fetch(store: ModelStore, manifest: ModelManifest) -> None:
    from edge_asr.store.fetch import HUGGINGFACE, fetch_model, unrecorded_files
    from edge_asr.store.inspect import inspect_model

    downloads = store.writable_root / "downloads"
    hub = os.environ.get("HF_ENDPOINT", HUGGINGFACE).rstrip("/")

    def fill(directory: Path) -> ModelManifest:
        with download_progress() as progress:
            fetched = fetch_model(manifest, directory, downloads, progress, hub)
        inspect_model(directory, fetched)
        return fetched

    model = store.install(manifest.name, fill)
    unrecorded = unrecorded_files(manifest)
    if unrecorded:
        archive = "is the one its publisher lists" if model.manifest.source.archive_sha256 else "has no known digest"
        remark(
            f"the catalogue knows no digest of {', '.join(unrecorded)} (the download {archive}): what came now was "
            "recorded, and `edge-asr models verify` compares with that"
        )
    remark(f"installed {manifest.name} {manifest.version} in {model.directory}")
    if FAMILIES[manifest.family].kind == "segment" and installed_vad(store) is None:
        remark(f"it hears better where speech begins and ends with: edge-asr models pull {VAD_MODEL}")


def _announce(model: InstalledModel) -> None:
    remark(f"{model.manifest.name} is active; a running daemon takes it when it is reloaded or started again")
    click.echo(model.manifest.name)


def _tell(answer: Mapping[str, str]) -> None:
    """What the daemon did."""
    if answer["trial"]:
        remark(answer["trial"])
    if answer["active"] == answer["before"]:
        remark(f"the running daemon serves {answer['active']} already")
    else:
        remark(f"{answer['active']} is active; the running daemon serves it in place of {answer['before']}")
    if answer["note"]:
        remark(answer["note"])
    click.echo(answer["active"])


def _verify(model: InstalledModel, settings: EngineSettings) -> dict[str, object]:
    from edge_asr.cli.model_facts import inspected_facts
    from edge_asr.store.digest import check_files
    from edge_asr.store.inspect import inspect_model

    check_files(model.manifest, model.directory)
    inspected = inspected_facts(inspect_model(model.directory, model.manifest))
    if FAMILIES[model.manifest.family].kind == "vad":
        return {"verdict": "whole", **inspected}
    from edge_asr.engines.trial import trial_load

    described = trial_load(model.directory, model.manifest, settings)
    loaded = {"provider": described.provider, "chunk_ms": described.chunk_ms}
    return {"verdict": f"whole, and it loads ({described.provider})", **inspected, **loaded}
