"""How a model listens for spoken commands, decided before it is loaded, since some of it is decided by the loading.

Encoder-decoder models are decoded under a constraint, a different one for each session if need be. A streaming CTC
model is loaded with a decoding graph made of the configured templates, which all its sessions share. Any other writes
what it hears, and the nearest sentence is looked for; it is told to expect the words of the sentences where it can be.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from edge_asr.commands.book import CommandBook, constrained, exact, nearest, unable
from edge_asr.commands.graph import build_command_graph
from edge_asr.commands.spelling import read_speller
from edge_asr.engines.base64_vocabulary import read_vocabulary
from edge_asr.engines.constrained_families import CONSTRAINED_FAMILIES
from edge_asr.errors import ConfigurationError
from edge_asr.manifest import ModelManifest
from edge_asr.settings import CommandSettings, EngineSettings
from edge_asr.workers.command_graph import takes_command_graph
from edge_asr.workers.hotword_loading import expecting


@contextmanager
def listening(
    directory: Path,
    manifest: ModelManifest,
    engine: EngineSettings,
    commands: CommandSettings,
    texts: Mapping[str, str],
) -> Iterator[tuple[CommandBook, EngineSettings]]:
    """The command sets of a model, and the settings to load it with while this lasts.

    Args:
        directory: The model's files.
        manifest: What they are.
        engine: The settings without regard to commands.
        commands: What is believed.
        texts: The configured templates by their files; empty for none.

    Raises:
        ConfigurationError: The templates cannot be used, or not with this model.
        LibraryMissing: A decoding graph needs ``kaldifst``.
    """
    files = {role: directory / file.path for role, file in manifest.files.items()}
    if manifest.family in CONSTRAINED_FAMILIES:
        maker = constrained(lambda: read_vocabulary(files["tokens"], manifest.name), commands)
        yield CommandBook(maker, texts), engine
    elif texts and takes_command_graph(manifest, engine):
        with tempfile.TemporaryDirectory(prefix="edge-asr-commands-") as folder:
            book = CommandBook(exact(), texts, unable(f"model {manifest.name!r} hears the daemon's own commands only"))
            graph = Path(folder, "commands.fst")
            if book.configured is None:
                raise ConfigurationError("there are no sentence templates")
            build_command_graph(book.configured.network, read_speller(files["bpe"], files["tokens"])).write(graph)
            yield book, replace(engine, graph=str(graph), use_graph=True)
    else:
        yield CommandBook(nearest(commands), texts), expecting(engine, manifest) if texts else engine
