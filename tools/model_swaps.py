"""Change the model of a running daemon again and again, and offer it models that are damaged; for ``tools/chaos``.

The store holds two models with the weights of the bundled one, so that a session says the same words whichever of them
it has, and copies that are wrong in one way each. The good ones must be activated, the others refused without a trace.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import onnx
from onnx import numpy_helper

from edge_asr.manifest import MANIFEST_FILE, ModelManifest, ModelSource, format_manifest, read_manifest

STARTER = Path(__file__).resolve().parent.parent / "models" / "starter-en"
GOOD = ("twin-a", "twin-b")


@dataclass(slots=True)
class SwapRecord:
    """What came of it."""

    swaps: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    """Damaged model to the code of the refusal."""
    faults: list[str] = field(default_factory=list)
    """A good model that was refused, or a damaged one that was not, or left a trace."""


def fill_store(root: Path) -> None:
    """Put the models into a store."""
    for name in GOOD:
        _copy(root, name)
    for name, damage in _DAMAGE.items():
        damage(_copy(root, name))


def activate(admin_socket: Path, model: str) -> tuple[int, str]:
    """Ask the daemon for a model; the status of its answer, and the code of its refusal."""
    connection = http.client.HTTPConnection("localhost", timeout=120)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(admin_socket))
    try:
        connection.request("POST", "/admin/activate", json.dumps({"model": model}))
        answer = connection.getresponse()
        document = json.load(answer)
    finally:
        connection.close()
    return answer.status, document.get("error", {}).get("code", "")


def _copy(root: Path, name: str) -> Path:
    directory = root / "models" / name
    directory.mkdir(parents=True)
    manifest = read_manifest(STARTER / MANIFEST_FILE)
    for file in manifest.files.values():
        shutil.copy(STARTER / file.path, directory / file.path)
    _write(directory, msgspec.structs.replace(manifest, name=name, source=ModelSource(kind="local")))
    return directory


def _write(directory: Path, manifest: ModelManifest) -> None:
    (directory / MANIFEST_FILE).write_text(format_manifest(manifest), encoding="utf-8")


def _graph(directory: Path) -> Path:
    return directory / read_manifest(directory / MANIFEST_FILE).files["model"].path


def _note_digest(directory: Path) -> None:
    """As if it had been imported like that: the digest is right, what it is of is not."""
    manifest = read_manifest(directory / MANIFEST_FILE)
    content = _graph(directory).read_bytes()
    file = msgspec.structs.replace(
        manifest.files["model"], size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest()
    )
    _write(directory, msgspec.structs.replace(manifest, files={**manifest.files, "model": file}))


# One way to be wrong each.


def _flip_bytes(directory: Path) -> None:
    content = bytearray(_graph(directory).read_bytes())
    for position in range(len(content) // 2, len(content), 100_000):
        content[position] ^= 0xFF
    _graph(directory).write_bytes(content)


def _truncate(directory: Path) -> None:
    content = _graph(directory).read_bytes()
    _graph(directory).write_bytes(content[: len(content) // 2])


def _truncate_as_imported(directory: Path) -> None:
    _truncate(directory)
    _note_digest(directory)


def _call_it_another_family(directory: Path) -> None:
    manifest = read_manifest(directory / MANIFEST_FILE)
    _write(directory, msgspec.structs.replace(manifest, family="nemo-ctc"))


def _make_weights_nan(directory: Path) -> None:
    _change_weights(directory, lambda weights: np.full_like(weights, np.nan))


def _make_weights_noise(directory: Path) -> None:
    draw = np.random.default_rng(0)
    _change_weights(directory, lambda weights: draw.normal(0, 0.1, weights.shape).astype(weights.dtype))


def _change_weights(directory: Path, change: Callable[[np.ndarray], np.ndarray]) -> None:
    model = onnx.load(_graph(directory))
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and np.prod(tensor.dims) > 1:
            tensor.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(tensor)), tensor.name))
    onnx.save(model, _graph(directory))
    _note_digest(directory)


_DAMAGE = {
    "flipped-bytes": _flip_bytes,
    "truncated": _truncate,
    "truncated-as-imported": _truncate_as_imported,
    "wrong-family": _call_it_another_family,
    "nan-weights": _make_weights_nan,
    "noise-weights": _make_weights_noise,
}

DAMAGED = tuple(_DAMAGE)
"""Names of the models that are wrong."""
