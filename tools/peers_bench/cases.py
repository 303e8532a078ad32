"""Who runs: every peer that can be had here, with the models it can run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from edge_asr.cli.stores import open_store
from edge_asr.families import FAMILIES
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.store.voice_activity import installed_vad
from tools.peers_bench.adapters.commands import edge_asr_program, sherpa_program
from tools.peers_bench.adapters.library import LibraryPeer
from tools.peers_bench.adapters.server import ServerPeer, edge_asr_daemon, sherpa_server
from tools.peers_bench.comparison import DICTATION_MODEL, LIBRARY, MOONSHINE_VOICE, SHERPA_PYTHON
from tools.peers_bench.comparison import POCKETSPHINX as POCKETSPHINX_NAME
from tools.peers_bench.environments import MOONSHINE, POCKETSPHINX, SHERPA, Environment
from tools.peers_bench.measurement import Case
from tools.peers_bench.peer import Peer, PeerFailed

Opponent = Literal["sherpa", "moonshine", "pocketsphinx"]
OPPONENTS: tuple[Opponent, ...] = get_args(Opponent)

VOSK = "vosk: left out, since its models come from a site of their own and are in no package; none was at hand"


@dataclass(slots=True)
class Field:
    """Everybody who takes part."""

    cases: list[Case]
    servers: list[tuple[ServerPeer, InstalledModel]]
    """Those whose streams are counted."""
    left_out: list[str]
    """Who is missing, and why."""


def gather(opponents: Sequence[Opponent], models: Sequence[str], folder: Path) -> Field:
    """Install and list them.

    Args:
        opponents: Who is wanted.
        models: Streaming models for edge-asr and sherpa-onnx, store names or directories.
        folder: Where their environments are.

    Raises:
        ModelError: A model cannot be used.
    """
    field = Field([], [], [VOSK])
    store = open_store()
    if "sherpa" in opponents:
        _gather_sherpa(field, [store.resolve(name) for name in models], folder)
    dictation = store.installed_or_none(DICTATION_MODEL)
    if dictation is None:
        field.left_out.append(f"moonshine-voice and pocketsphinx: run `edge-asr models pull {DICTATION_MODEL}` first")
        return field
    others: list[Peer] = []
    if "moonshine" in opponents:
        others += _library(field, MOONSHINE_VOICE, MOONSHINE, "moonshine_voice_library.py", folder)
    if "pocketsphinx" in opponents:
        others += _library(field, POCKETSPHINX_NAME, POCKETSPHINX, "pocketsphinx_library.py", folder)
    if others:
        field.cases += [Case(peer, None) for peer in others]
        field.cases += [Case(edge_asr_daemon(), dictation), Case(edge_asr_library(store), dictation)]
    return field


def _gather_sherpa(field: Field, models: Sequence[InstalledModel], folder: Path) -> None:
    try:
        python = SHERPA.python(folder)
    except PeerFailed as error:
        field.left_out.append(f"sherpa-onnx: {error}")
        return
    daemon, server = edge_asr_daemon(), sherpa_server(python.parent / "sherpa-onnx-online-websocket-server")
    peers: tuple[Peer, ...] = (
        edge_asr_program(),
        sherpa_program(python.parent / "sherpa-onnx"),
        edge_asr_library(open_store()),
        LibraryPeer(SHERPA_PYTHON, python, "sherpa_online.py", sherpa_arguments),
        daemon,
        server,
    )
    field.cases += [Case(peer, model) for model in models for peer in peers]
    field.servers += [(peer, model) for model in models for peer in (daemon, server)]


def edge_asr_library(store: ModelStore) -> LibraryPeer:
    """edge-asr in this Python."""

    def options(model: InstalledModel | None) -> Mapping[str, Any]:
        assert model is not None
        vad = installed_vad(store)
        return {"directory": str(model.directory), "vad": str(vad) if vad else ""}

    return LibraryPeer(LIBRARY, Path(sys.executable), "edge_asr_library.py", options)


def sherpa_arguments(model: InstalledModel | None) -> Mapping[str, Any]:
    """Factory of sherpa-onnx's Python API and its arguments; one thread, as in its examples."""
    assert model is not None
    family = FAMILIES[model.manifest.family]
    arguments: dict[str, Any] = {
        role: str(model.directory / file.path) for role, file in model.manifest.files.items() if role in family.roles
    }
    if "graph" in model.manifest.files:
        arguments["ctc_graph"] = str(model.directory / model.manifest.files["graph"].path)
    return {"factory": family.factory, "arguments": {**arguments, "num_threads": 1, "enable_endpoint_detection": True}}


def _library(field: Field, name: str, environment: Environment, program: str, folder: Path) -> list[Peer]:
    try:
        return [LibraryPeer(name, environment.python(folder), program, lambda _model: {})]
    except PeerFailed as error:
        field.left_out.append(f"{name}: {error}")
        return []
