"""The walls of the house: who may import whom, and what ``import edge_asr`` may cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "edge_asr"

LAYERS = {
    "audio": 0, "events": 0, "languages": 0, "requests": 0, "errors": 0, "settings": 0, "clock": 0,
    "manifest": 0, "families": 0, "filenames": 0, "scoring": 0, "subtitles": 0, "__version__": 0,
    "statistics": 0, "distributions": 0, "charts": 0, "tally": 0,
    "sources": 1, "store": 1, "engines": 1, "resources": 1, "metrics": 1,
    "pipeline": 2, "commands": 2, "workload": 2,
    "sessions": 3,
    "workers": 4, "transcription": 4,
    "protocols": 5, "servers": 5, "sinks": 5, "administration": 5, "listening": 5, "tracing": 5,
    "daemon": 6,
    "quantize": 6, "bench": 6, "diagnosis": 6, "batch": 6, "deployment": 6,
    "cli": 7,
}  # fmt: skip
"""Imports go downward; only values (0) and codecs with their servers (5) also import their own layer."""

DOORS: dict[str, tuple[str, ...]] = {
    "sherpa_onnx": ("engines/",),
    "onnxruntime": ("engines/ort_", "quantize/"),
    "onnx": ("quantize/",),
    "sounddevice": ("sources/microphone.py",),
    "soundfile": ("sources/file.py",),
    "soxr": ("sources/resample.py",),
    "hassil": ("commands/",),
    "yaml": ("commands/",),
    "kaldi_native_fbank": ("engines/ort_",),
    "kaldifst": ("commands/",),
    "rapidfuzz": ("commands/",),
    "wetext": ("pipeline/itn.py",),
    "jiwer": ("scoring.py",),
    "whisper_normalizer": ("scoring.py",),
    "dask": ("cli/batch_cluster.py",),
    "distributed": ("cli/batch_cluster.py",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "starlette": ("servers/",),
    "uvicorn": ("servers/",),
    "websockets": ("servers/", "cli/"),
    "multipart": ("servers/",),
    "python_multipart": ("servers/",),
    "packaging": ("deployment/",),
    "prometheus_client": ("metrics/",),
    "aiomqtt": ("sinks/mqtt.py",),
    "zeroconf": ("servers/discovery.py",),
}
"""Third-party package to the only places that may import it."""

WITHOUT_IO = {
    "sessions": {"asyncio", "threading", "socket", "os", "time", "subprocess"},
    "pipeline": {"asyncio", "threading", "socket", "os", "time", "subprocess"},
    "protocols": {"asyncio", "threading", "socket", "os", "time", "subprocess", "numpy"},
}
"""Pure packages, and what they may not import."""

EXCEPTIONS = {("sessions/runner.py", "threading"), ("sessions/runner.py", "time")}
"""The runner is where a session meets a thread."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            if node.module == "edge_asr":
                yield from (f"edge_asr.{alias.name}" for alias in node.names)


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


PARSED = list(modules())


@pytest.mark.parametrize(("path", "tree"), PARSED, ids=[path for path, _ in PARSED])
def test_imports_go_downward(path: str, tree: ast.Module) -> None:
    own = path.split("/", maxsplit=1)[0].removesuffix(".py")
    if own in ("__init__", "__main__"):
        return
    for name in imported(tree):
        part = part_of(name) if name.startswith("edge_asr.") else ""
        if not part or part == own:
            continue
        assert LAYERS[part] < LAYERS[own] or (LAYERS[part] == LAYERS[own] in (0, 5)), f"{path} imports {name}"


@pytest.mark.parametrize(("path", "tree"), PARSED, ids=[path for path, _ in PARSED])
def test_each_third_party_package_has_one_door(path: str, tree: ast.Module) -> None:
    for name in imported(tree):
        doors = DOORS.get(name.split(".")[0])
        assert doors is None or path.startswith(doors), f"{path} imports {name}; only {doors} may"


@pytest.mark.parametrize(("path", "tree"), PARSED, ids=[path for path, _ in PARSED])
def test_pure_packages_do_no_io(path: str, tree: ast.Module) -> None:
    forbidden = WITHOUT_IO.get(path.split("/", maxsplit=1)[0], set())
    for name in imported(tree):
        root = name.split(".")[0]
        assert root not in forbidden or (path, root) in EXCEPTIONS, f"{path} imports {name}"


def test_every_part_has_a_layer() -> None:
    parts = {path.split("/")[0].removesuffix(".py") for path, _ in PARSED} - {
        "__init__",
        "__main__",
        "_models",
    }
    assert parts <= set(LAYERS)


def loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(' '.join(sorted(name.split('.')[0] for name in sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_importing_the_package_loads_no_native_or_web_package() -> None:
    heavy = {
        "numpy",
        "sherpa_onnx",
        "onnxruntime",
        "sounddevice",
        "soundfile",
        "soxr",
        "websockets",
        "starlette",
        "click",
    }
    assert not loaded_by("import edge_asr") & heavy


def test_the_front_process_stays_without_numpy() -> None:
    heavy = {"numpy", "sherpa_onnx", "onnxruntime", "sounddevice", "soundfile", "soxr", "jiwer", "rich"}
    extras = {"aiomqtt", "paho", "zeroconf"}
    assert not loaded_by("import edge_asr.daemon") & (heavy | extras)
