"""Execution providers: which names exist, and which of them the installed engine cannot run.

sherpa-onnx treats a provider it does not have in three ways: it ends the process (rknn, qnn), it says a line on
standard error and runs on the CPU (cuda, xnnpack, …), or it does not know the name and runs on the CPU as well. So a
provider is judged before anything native is loaded, by what the installed library itself says in its text, and once
more after loading, by what it wrote on standard error (:mod:`edge_asr.engines.native_load`).
"""

from __future__ import annotations

import importlib.util
import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edge_asr.errors import LibraryMissing, ProviderUnavailable, UnknownProvider
from edge_asr.families import FamilyKind
from edge_asr.settings import EngineSettings

CPU = "cpu"

KNOWN_PROVIDERS = (
    CPU,
    "cuda",
    "trt",
    "rknn",
    "qnn",
    "openvino",
    "xnnpack",
    "spacemit",
    "ascend",
    "axera",
    "axcl",
    "hailo",
    "coreml",
    "nnapi",
    "directml",
)
"""Every name that some build of the engine knows."""

_REFUSALS = {
    "rknn": b"-DSHERPA_ONNX_ENABLE_RKNN=ON",
    "qnn": b"-DSHERPA_ONNX_ENABLE_QNN=ON",
    "ascend": b"-DSHERPA_ONNX_ENABLE_ASCEND_NPU=ON",
    "axera": b"-DSHERPA_ONNX_ENABLE_AXERA=ON",
    "axcl": b"-DSHERPA_ONNX_ENABLE_AXCL=ON",
    "spacemit": b"is for SpacemiT AI-CPUs only",
    "coreml": b"CoreML is for Apple only",
    "nnapi": b"NNAPI is for Android only",
    "directml": b"DirectML is for Windows only",
}
"""What a build without the provider would say when asked for it; a build with the provider does not hold the text."""

_LIBRARIES = {
    "cuda": "libonnxruntime_providers_cuda.so",
    "trt": "libonnxruntime_providers_tensorrt.so",
    "openvino": "libonnxruntime_providers_openvino.so",
}
"""Providers of ONNX Runtime that come as a library of their own."""

_NEXT_STEPS = {
    "rknn": "install the RKNN build of sherpa-onnx and librknnrt.so",
    "cuda": "install the CUDA build of sherpa-onnx",
    "trt": "install a sherpa-onnx build with TensorRT",
}


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """What to load the model with."""

    provider: str
    notes: tuple[str, ...] = ()
    """A fallback that was allowed, as a sentence."""


def known_provider(name: str) -> str:
    """The engine's spelling of a name.

    Raises:
        UnknownProvider: No build of the engine knows it.
    """
    provider = name.strip().lower()
    if provider not in KNOWN_PROVIDERS:
        raise UnknownProvider(name, KNOWN_PROVIDERS)
    return provider


def why_unavailable(provider: str, package: Path | None = None) -> str:
    """Why the installed engine cannot run this known provider; empty where only trying can tell.

    Args:
        provider: One of :data:`KNOWN_PROVIDERS`.
        package: Directory of the ``sherpa_onnx`` package; the installed one by default. Nothing of it is loaded.

    Raises:
        LibraryMissing: sherpa-onnx is not installed.
    """
    libraries = (_installed_package() if package is None else package) / "lib"
    needed = _LIBRARIES.get(provider)
    if needed is not None and not (libraries / needed).exists():
        return f"the installed sherpa-onnx has no {needed}"
    refusal = _REFUSALS.get(provider)
    if refusal is not None and any(_contains(path, refusal) for path in _extension_modules(libraries)):
        return "the installed sherpa-onnx was built without it"
    return ""


def choose_provider(settings: EngineSettings, kind: FamilyKind) -> ProviderChoice:
    """Judge the configured provider before anything native is loaded.

    Raises:
        UnknownProvider: No build of the engine knows it.
        ProviderUnavailable: This build cannot run it and ``fallback`` is ``none``.
    """
    provider = known_provider(settings.provider)
    if provider == CPU:
        return ProviderChoice(CPU)
    reason = why_unavailable(provider)
    if not reason and provider == "trt" and kind != "streaming":
        reason = "it runs streaming models only"  # the engine would end the process
    if not reason and provider == "qnn":
        reason = "sherpa-onnx does not offer it to Python"
    return fall_back(provider, reason, settings) if reason else ProviderChoice(provider)


def fall_back(provider: str, reason: str, settings: EngineSettings) -> ProviderChoice:
    """The CPU instead, where that is allowed.

    Raises:
        ProviderUnavailable: ``fallback`` is ``none``.
    """
    if settings.fallback != CPU:
        step = _NEXT_STEPS.get(provider, "choose another with --provider")
        raise ProviderUnavailable(provider, f'{reason}; {step}, or set engine.fallback = "cpu"')
    return ProviderChoice(CPU, (f"provider {provider!r} was replaced by the CPU: {reason}",))


def _installed_package() -> Path:
    spec = importlib.util.find_spec("sherpa_onnx")
    if spec is None or not spec.submodule_search_locations:
        raise LibraryMissing("sherpa-onnx", "install edge-asr again: it is one of its dependencies")
    return Path(spec.submodule_search_locations[0])


def _extension_modules(libraries: Path) -> Iterator[Path]:
    yield from libraries.glob("_sherpa_onnx*.so")
    yield from libraries.glob("libsherpa-onnx-core*.so")


def _contains(path: Path, text: bytes) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(text) >= 0
