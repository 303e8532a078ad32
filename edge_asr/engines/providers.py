"""Execution providers: which names exist, and which of them the installed engine cannot run.

sherpa-onnx treats a provider it does not have in three ways: it ends the process (rknn, qnn), it says a line on
standard error and runs on the CPU (cuda, xnnpack, …), or it does not know the name and runs on the CPU as well. So a
provider is judged before anything native is loaded, by what the installed library itself says in its text, and once
more after loading, by what it wrote on standard error (:mod:`edge_asr.engines.native_load`). What the names mean stands
in :mod:`edge_asr.engines.provider_table`.
"""

from __future__ import annotations

import importlib.util
import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edge_asr.engines.provider_table import CPU, NPU_PROVIDERS, ORT_PREFIX, ORT_PROVIDERS, PROVIDERS
from edge_asr.errors import LibraryMissing, ModelUnsupported, ProviderUnavailable, UnknownProvider
from edge_asr.families import CONTEXT, FAMILIES, ModelFamily
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

_FEATURES = "kaldi_native_fbank"
"""What computes features where sherpa-onnx does not."""

KNOWN_PROVIDERS = tuple(PROVIDERS)
"""Every name that some build of the engine knows."""


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """What to load the model with."""

    provider: str
    notes: tuple[str, ...] = ()
    """A fallback that was allowed, as a sentence."""
    asked: str = ""
    """The provider that was configured, where another one runs."""

    @property
    def label(self) -> str:
        """What really runs, for people and metrics: ``cpu (asked: rknn)`` after a fallback."""
        return f"{self.provider} (asked: {self.asked})" if self.asked else self.provider


def known_provider(name: str) -> str:
    """The engine's spelling of a name.

    Raises:
        UnknownProvider: No build of the engine knows it.
    """
    provider = name.strip().lower()
    if provider in PROVIDERS:
        return provider
    for execution_provider in ORT_PROVIDERS:
        if provider == f"{ORT_PREFIX}{execution_provider}".lower():
            return f"{ORT_PREFIX}{execution_provider}"
    raise UnknownProvider(name, (*KNOWN_PROVIDERS, *(f"{ORT_PREFIX}{each}" for each in ORT_PROVIDERS)))


def ort_provider(provider: str) -> str:
    """The execution provider of ONNX Runtime that runs a known provider; empty where sherpa-onnx runs it."""
    if provider == "qnn":
        return "QNN"
    return provider.removeprefix(ORT_PREFIX) if provider.startswith(ORT_PREFIX) else ""


def why_unavailable(provider: str, package: Path | None = None) -> str:
    """Why what is installed cannot run this known provider; empty where only trying can tell.

    Args:
        provider: A known one.
        package: Directory of the ``sherpa_onnx`` package; the installed one by default. Nothing of it is loaded.

    Raises:
        LibraryMissing: sherpa-onnx is not installed.
    """
    entry = PROVIDERS.get(provider)
    if ort_provider(provider) and not importlib.util.find_spec(_FEATURES):
        return f"the Python package {_FEATURES} is not installed; run `pip install 'edge-asr[npu]'`"
    if entry is None:
        return ""
    if not entry.kinds:
        return entry.why_not_family("")
    if entry.package:
        return "" if importlib.util.find_spec(entry.package) else f"the Python package {entry.package} is not installed"
    libraries = (_installed_package() if package is None else package) / "lib"
    if entry.library and not (libraries / entry.library).exists():
        return f"the installed sherpa-onnx has no {entry.library}"
    if entry.refusal and any(_contains(path, entry.refusal) for path in _extension_modules(libraries)):
        return "the installed sherpa-onnx was built without it"
    return ""


def providers_of(manifest: ModelManifest) -> list[str]:
    """Providers that run a model's family from files of its kind, given their build of the engine."""
    family = FAMILIES.get(manifest.family)
    if family is None:
        return []
    formats = {"rknn" if is_compiled(manifest) else "onnx"}
    if any(role.endswith(CONTEXT) for role in manifest.files):
        formats.add("qnn")
    return [
        provider.name
        for provider in PROVIDERS.values()
        if family.kind in provider.kinds
        and formats & set(provider.formats)
        and not (family.kind == "streaming" and provider.why_not_family(family.name))
    ]


def providers_here(manifest: ModelManifest) -> list[str]:
    """Of :func:`providers_of`, the processor and the NPUs that what is installed can run."""
    return [
        name for name in providers_of(manifest) if name == CPU or (name in NPU_PROVIDERS and not why_unavailable(name))
    ]


def choose_provider(settings: EngineSettings, family: ModelFamily, given_up: str = "") -> ProviderChoice:
    """Judge the configured provider before anything native is loaded.

    Args:
        settings: Which one, and whether the CPU may take its place.
        family: What it is to run.
        given_up: Why it is not to be tried again; empty where nothing is known against it.

    Raises:
        UnknownProvider: No build of the engine knows it.
        ProviderUnavailable: It does not run this family here and ``fallback`` is ``none``.
    """
    provider = known_provider(settings.provider)
    if provider == CPU:
        return ProviderChoice(CPU)
    reason = given_up or _why_not(provider, family)
    return fall_back(provider, reason, settings) if reason else ProviderChoice(provider)


def require_format(manifest: ModelManifest, settings: EngineSettings) -> None:
    """Refuse files that the configured provider cannot read: native code would crash on them.

    Raises:
        UnknownProvider: No build of the engine knows the provider.
        ModelUnsupported: The model is compiled for an NPU, and another provider is to run it.
    """
    provider = known_provider(settings.provider)
    if is_compiled(manifest) and provider != "rknn":
        raise ModelUnsupported(
            manifest.name,
            f"it is compiled for Rockchip's NPU and {provider!r} cannot run it; set engine.provider = 'rknn'",
        )


def fitting(choice: ProviderChoice, manifest: ModelManifest, settings: EngineSettings) -> ProviderChoice:
    """What can run these very files: an NPU needs compiled ones, and the CPU cannot take its place with them.

    Args:
        choice: Of the provider, whatever the files are.
        manifest: What the files are.
        settings: Whether the CPU may take an NPU's place.

    Raises:
        ProviderUnavailable: Neither the NPU nor the CPU runs them, or the CPU may not.
    """
    if choice.provider == "rknn" and not is_compiled(manifest):
        return fall_back(choice.provider, f"model {manifest.name!r} is not compiled for it", settings)
    if choice.provider != choice.asked == "rknn" and is_compiled(manifest):
        raise ProviderUnavailable(
            choice.asked,
            f"{' '.join(choice.notes)}; but model {manifest.name!r} is compiled for the NPU and the CPU cannot run it; "
            "configure the model that it was made from",
        )
    return choice


def is_compiled(manifest: ModelManifest) -> bool:
    """Whether a model's files are for Rockchip's NPU, and for nothing else."""
    return any(file.path.endswith(".rknn") for file in manifest.files.values())


def fall_back(provider: str, reason: str, settings: EngineSettings) -> ProviderChoice:
    """The CPU instead, where that is allowed.

    Raises:
        ProviderUnavailable: ``fallback`` is ``none``.
    """
    if settings.fallback != CPU:
        entry = PROVIDERS.get(provider)
        step = entry.how_to_get if entry else "choose another with --provider"
        raise ProviderUnavailable(provider, f'{reason}; {step}, or set engine.fallback = "cpu"')
    return ProviderChoice(CPU, (f"provider {provider!r} was replaced by the CPU: {reason}",), provider)


def _why_not(provider: str, family: ModelFamily) -> str:
    entry = PROVIDERS.get(provider)
    if entry is None:
        reason = "" if family.kind == "streaming" else "ONNX Runtime's own providers run streaming models only"
        return reason or why_unavailable(provider)
    if family.kind == "streaming" and (reason := entry.why_not_family(family.name)):
        return reason
    if family.kind != "streaming" and family.kind not in entry.kinds:
        return "it runs streaming models only"  # the engine would end the process, or use the CPU
    return why_unavailable(provider)


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
