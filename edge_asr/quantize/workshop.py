"""Where candidates are made: the original's graphs in memory, and a folder with a directory for each candidate."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from edge_asr.errors import ModelUnsupported
from edge_asr.families import CONTEXT, FAMILIES
from edge_asr.manifest import MANIFEST_FILE, ModelFile, ModelManifest, Precision, format_manifest, renamed
from edge_asr.quantize.choices import Choice
from edge_asr.quantize.decoding import Candidate
from edge_asr.quantize.graph import OperatorCounts, Prepared, Quantized, load_graph, prepare_graph
from edge_asr.quantize.ort_file import save_ort
from edge_asr.quantize.save import save_model
from edge_asr.quantize.shorten import with_short_names
from edge_asr.quantize.thread_hint import HINTED, add_thread_hint
from edge_asr.store.digest import sha256_of
from edge_asr.store.inspect import inspect_model, is_too_new
from edge_asr.store.onnx_header import read_header
from edge_asr.store.store import InstalledModel

COMPANIONS = frozenset(("tokens", "bpe", "graph"))
"""Roles whose files are no networks; every candidate has the original's."""


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A candidate on disk, and what is in it."""

    name: str
    candidate: Candidate
    graph_bytes: int
    """Of the graphs and the weights beside them; what is the same in all candidates is not counted."""
    counts: Mapping[str, OperatorCounts]
    notes: tuple[str, ...] = ()


class Workshop:
    """Makes candidates of one original."""

    def __init__(self, original: InstalledModel, folder: Path, *, is_continued: bool = False) -> None:
        """Read and clean up every graph of the original.

        Args:
            original: A float model, not changed.
            folder: Where candidates are put; made if missing.
            is_continued: Take an original that is quantized in parts already.

        Raises:
            ModelError: It is damaged, of a kind that cannot be quantized, or quantized already.
        """
        inspect_model(original.directory, original.manifest, any_version=True)
        family = FAMILIES[original.manifest.family]
        if not family.recognises_speech:
            raise ModelUnsupported(original.manifest.name, "it recognises no speech; there is nothing to measure")
        self.original = original
        self.family = family
        self._folder = folder
        self.components: dict[str, Prepared] = {
            role: prepare_graph(load_graph(path), name=path.name, is_continued=is_continued)
            for role, path in graph_files(original).items()
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the graphs before anything was quantized."""
        return tuple(note for prepared in self.components.values() for note in prepared.notes)

    def unchanged(self) -> Made:
        """The original itself; in versions that the engine loads where its own are too new."""
        if any(is_too_new(read_header(path)) for path in graph_files(self.original).values()):
            return self.make("float32", {})
        counts = {role: OperatorCounts({}, {}) for role in self.components}
        candidate = Candidate(self.original.manifest, self.original.directory)
        return Made("float32", candidate, graph_bytes(candidate), counts)

    def make(self, name: str, quantized: Mapping[str, Quantized], blank_penalty: float = 0.0) -> Made:
        """Write a candidate.

        Args:
            name: Of its directory; one of that name is replaced.
            quantized: By role; other graphs are the original's, cleaned up.
            blank_penalty: What is in the graph, for the manifest.

        Raises:
            DiskFull: It does not fit.
        """
        directory = self._folder / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        files = {}
        for role, file in self.original.manifest.files.items():
            path = directory / Path(file.path).name
            if role in self.components:
                path = path.with_suffix(".onnx")
                model = quantized[role].model if role in quantized else self.components[role].model
                written = with_short_names(model)
                if "joiner" in self.components and role in HINTED:
                    add_thread_hint(written)
                save_model(written, path)
            else:
                path.symlink_to((self.original.directory / file.path).resolve())
            files[role] = ModelFile(path=path.name, size_bytes=path.stat().st_size, sha256=sha256_of(path))
        manifest = msgspec.structs.replace(self._manifest(name, quantized, files), blank_penalty=blank_penalty)
        candidate = Candidate(manifest, directory)
        (directory / MANIFEST_FILE).write_text(format_manifest(candidate.manifest), encoding="utf-8")
        return Made(
            name,
            candidate,
            graph_bytes(candidate),
            {role: one.counts for role, one in quantized.items()},
            tuple(note for one in quantized.values() for note in one.notes),
        )

    def discard(self, made: Made) -> None:
        """Give the disk of a refused candidate back."""
        shutil.rmtree(made.candidate.directory)

    def as_ort(self, made: Made) -> Made:
        """A candidate in ONNX Runtime's own format.

        Raises:
            ModelUnsupported: A graph is too large for it.
        """
        directory = self._folder / f"{made.name}-ort"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        files = {}
        for role, file in made.candidate.manifest.files.items():
            source = made.candidate.directory / file.path
            if role in self.components:
                path = save_ort(load_graph(source), directory / Path(file.path).with_suffix(".ort").name)
            else:
                path = directory / file.path
                path.symlink_to(source.resolve())
            files[role] = ModelFile(path=path.name, size_bytes=path.stat().st_size, sha256=sha256_of(path))
        manifest = msgspec.structs.replace(made.candidate.manifest, files=files)
        (directory / MANIFEST_FILE).write_text(format_manifest(manifest), encoding="utf-8")
        candidate = Candidate(manifest, directory)
        return replace(made, candidate=candidate, graph_bytes=graph_bytes(candidate))

    def _manifest(self, name: str, quantized: Mapping[str, Quantized], files: dict[str, ModelFile]) -> ModelManifest:
        original = self.original.manifest
        precision = precision_of_choices(quantized)
        return msgspec.structs.replace(
            renamed(original, f"{base_name(original.name)}-{name}"),
            summary=f"{original.name}, quantized ({precision})",
            precision=precision,
            files=files,
            source=msgspec.structs.replace(original.source, kind="local"),
        )


def graph_files(model: InstalledModel) -> dict[str, Path]:
    """Role to file, of the networks of a model."""
    return {
        role: model.directory / file.path
        for role, file in model.manifest.files.items()
        if role not in COMPANIONS and not role.endswith(CONTEXT)
    }


def graph_bytes(candidate: Candidate) -> int:
    """Size of the networks and of the weights beside them."""
    return sum(
        files_bytes(path) for path in graph_files(InstalledModel(candidate.manifest, candidate.directory)).values()
    )


def files_bytes(path: Path) -> int:
    """Size of a network and of the weights beside it."""
    beside = () if path.suffix == ".ort" else read_header(path).external_bytes
    return path.stat().st_size + sum((path.parent / name).stat().st_size for name in beside)


def base_name(name: str) -> str:
    """A model's name without the precision at its end."""
    for ending in ("-fp32", "-float32", "-float"):
        name = name.removesuffix(ending)
    return name


def precision_of_choices(quantized: Mapping[str, Quantized]) -> Precision:
    """One word for the weights: ``mixed`` where several ways were used."""
    ways: set[Choice] = {
        choice for one in quantized.values() for choice, count in one.counts.quantized.items() if count
    }
    if len(ways) > 1:
        return "mixed"
    names: dict[Choice, Precision] = {
        "fp32": "fp32", "int8": "int8", "weight8": "int8", "weight4": "int4", "fp16": "fp16"
    }  # fmt: skip
    return names[ways.pop()] if ways else "fp32"
