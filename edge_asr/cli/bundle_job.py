"""The work of ``bundle``: which models go along, and whether what goes along is right."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from edge_asr.cli.configuration import merge, read_layer
from edge_asr.cli.messages import remark
from edge_asr.cli.options import require_folder
from edge_asr.cli.stores import choose_model, open_store
from edge_asr.deployment.bundle import TOP, Contents, write_bundle
from edge_asr.deployment.own_wheel import own_wheel
from edge_asr.deployment.target import Machine, Release
from edge_asr.errors import ConfigurationError
from edge_asr.store.digest import check_files
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.store.voice_activity import VAD_MODEL

SUFFIXES = (".tar", ".tar.gz", ".tgz")
"""How names of archives end that ``tar xf`` is told to unpack."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line said."""

    output: Path
    models: Sequence[str]
    machine: str
    releases: Sequence[str]
    extras: Sequence[str]
    wheel: Path | None
    settings_file: Path | None


def run_job(wish: Wish) -> None:
    """Check what goes along, collect the rest, write.

    Raises:
        EdgeAsrError: A model or the configuration is wrong, or a wheel cannot be had.
    """
    require_folder(wish.output)
    if not wish.output.name.endswith(SUFFIXES):
        raise ConfigurationError(f"{wish.output} is no name of a tar archive; end it in {' or '.join(SUFFIXES)}")
    if wish.settings_file is not None:
        merge([read_layer(wish.settings_file)])
    chosen = chosen_models(open_store(), wish.models)
    for model in chosen:
        check_files(model.manifest, model.directory)
    with tempfile.TemporaryDirectory(prefix="edge-asr-") as work:
        remark(f"collecting wheels for {wish.machine}; this takes a minute")
        contents = Contents(
            wheel=wish.wheel or own_wheel(Path(work)),
            machine=cast("Machine", wish.machine),
            releases=cast("Sequence[Release]", wish.releases or get_args(Release)),
            models=[model for model in chosen if not model.is_bundled],
            active=chosen[0].manifest.name if wish.models or not chosen[0].is_bundled else "",
            settings_file=wish.settings_file,
            extras=wish.extras,
        )
        size_bytes = write_bundle(wish.output, contents)
    names = ", ".join(model.manifest.name for model in chosen)
    remark(f"{wish.output} written, {size_bytes >> 20} MiB, with {names}")
    remark(f"on the board: tar xf {wish.output.name} && sudo {TOP}/install")


def chosen_models(store: ModelStore, names: Sequence[str]) -> list[InstalledModel]:
    """The models that go along, the one to be active first.

    Raises:
        ModelError: One of them is not installed here, or damaged.
        ConfigurationError: Two have the same name.
    """
    chosen = [choose_model(store, name) for name in names or [""]]
    if (vad := store.installed_or_none(VAD_MODEL)) is not None:
        chosen.append(vad)
    by_directory = {model.directory: model for model in chosen}
    names_taken = [model.manifest.name for model in by_directory.values()]
    if doubled := next((name for name in names_taken if names_taken.count(name) > 1), ""):
        raise ConfigurationError(f"two of the models are called {doubled!r}; import one of them by a name of its own")
    return list(by_directory.values())
