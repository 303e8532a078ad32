"""The board profile: what ``tune`` found out, as the lowest layer of the configuration.

One file per store, ``board-profile.toml``, with a table per model. It holds for one board: on another machine (an SD
card that was moved, an image that was cloned to another type) it is passed over, and that is said. Whatever the
integrator writes into a configuration file wins.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from edge_asr.cli.configuration import Layer, toml_layer
from edge_asr.cli.options import PROFILE_FILE
from edge_asr.errors import ConfigurationError
from edge_asr.resources.board import BoardFingerprint

_HEAD = """\
# Written by `edge-asr tune`; the lowest layer of the configuration of `serve`. Delete it to go back to the defaults.
# The evidence stands in {evidence}.
"""


class ModelProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was found for one model."""

    tuned: str
    """Wall clock, ISO 8601."""
    threads: int
    cpus: tuple[int, ...]
    allow_spinning: bool
    max_batch: int
    streams: int = 0
    """Live streams that it was tuned for and keeps up with; 0 in profiles of before this was written."""
    cpu_per_audio: float = 0.0
    """CPU seconds per second of audio with so many; 0 likewise."""
    provider: str = ""
    """Execution provider, where it is another than the configured one; empty to leave that."""

    def values(self) -> dict[str, object]:
        """By the paths of the settings."""
        return {
            "engine.threads": self.threads,
            "worker.cpus": self.cpus,
            "engine.allow_spinning": self.allow_spinning,
            "scheduler.max_batch": self.max_batch,
            "admission.streams": self.streams,
            "admission.cpu_per_audio": self.cpu_per_audio,
            **({"engine.provider": self.provider} if self.provider else {}),
        }


class BoardProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file."""

    board: str
    """Digest of the machine, see :func:`board_digest`."""
    models: dict[str, ModelProfile] = {}


@dataclass(frozen=True, slots=True)
class FoundProfile:
    """A profile and where it stands."""

    path: Path
    profile: BoardProfile


def board_digest(board: BoardFingerprint) -> str:
    """Twelve hexadecimal digits that stay the same across reboots and updates, and differ between types of board."""
    clusters = [(cluster.name, cluster.cpus, cluster.max_frequency_khz) for cluster in board.clusters]
    return hashlib.sha256(repr((board.model, board.architecture, clusters)).encode()).hexdigest()[:12]


def find_profile(roots: Sequence[Path]) -> FoundProfile | None:
    """The first profile among the roots of the store.

    Raises:
        ConfigurationError: It is there and cannot be understood.
    """
    for root in roots:
        path = root / PROFILE_FILE
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            return FoundProfile(path, parse_profile(path.read_text(encoding="utf-8"), str(path)))
    return None


def parse_profile(text: str, origin: str) -> BoardProfile:
    """Read a profile.

    Raises:
        ConfigurationError: It is no TOML, or no profile.
    """
    try:
        return msgspec.convert(tomllib.loads(text), BoardProfile)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigurationError(f"{origin}: no board profile: {error}; delete it and run `edge-asr tune`") from error


def profile_layer(found: FoundProfile | None, model: str, digest: str) -> Layer:
    """The layer for a model on this board; empty when the profile is another board's or knows nothing of the model."""
    if found is None or found.profile.board != digest or model not in found.profile.models:
        return Layer({}, {})
    values = found.profile.models[model].values()
    # Read through the configuration's own door, so that a profile can hold nothing a file could not.
    layer = toml_layer(_as_toml(values), str(found.path))
    return Layer(layer.values, dict.fromkeys(layer.values, f"board profile {found.path}"))


def write_profile(root: Path, digest: str, model: str, entry: ModelProfile, evidence: str) -> Path:
    """Add or replace the entry of a model; entries of another board are dropped. Atomic.

    Args:
        root: Of the store that is written.
        digest: Of this board.
        model: Store name.
        entry: What was found.
        evidence: Name of the file with the measurements.
    """
    found = find_profile([root])
    models = dict(found.profile.models) if found and found.profile.board == digest else {}
    models[model] = entry
    path = root / PROFILE_FILE
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(_HEAD.format(evidence=evidence) + _document(digest, models))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    return path


def _document(digest: str, models: Mapping[str, ModelProfile]) -> str:
    lines = [f'board = "{digest}"']
    for name, entry in sorted(models.items()):
        said = {key: value for key, value in msgspec.to_builtins(entry).items() if value != ""}
        lines += ["", f'[models."{name}"]', *(f"{key} = {_toml(value)}" for key, value in said.items())]
    return "\n".join(lines) + "\n"


def _as_toml(values: Mapping[str, object]) -> str:
    return "".join(f"{path} = {_toml(value)}\n" for path, value in values.items())


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(str(item) for item in value)}]"
    return str(value)
