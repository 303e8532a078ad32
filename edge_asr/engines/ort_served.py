"""Loads a streaming model on an execution provider of ONNX Runtime, and says what share of it the provider took."""

from __future__ import annotations

from pathlib import Path

from edge_asr.engines.native_load import model_files, with_notes
from edge_asr.engines.native_rules import has_rules
from edge_asr.engines.online import OnlineEngine
from edge_asr.engines.ort_providers import CPU_PROVIDER, Coverage, OrtRuntime
from edge_asr.engines.ort_recognizer import OrtRecognizer
from edge_asr.engines.providers import ProviderChoice, ort_provider
from edge_asr.errors import ConfigurationError
from edge_asr.families import CONTEXT, ModelFamily
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings


def load_ort(
    directory: Path,
    manifest: ModelManifest,
    family: ModelFamily,
    settings: EngineSettings,
    choice: ProviderChoice,
    profile_prefix: str = "",
) -> OnlineEngine:
    """Load a streaming model; the caller has inspected the files.

    Args:
        directory: Where the files are.
        manifest: What they are.
        family: How the parts fit together.
        settings: How they are decoded, and whether a part may stay on the CPU.
        choice: The provider to try.
        profile_prefix: Where operator traces are written; empty for nowhere.

    Raises:
        ConfigurationError: It can only be decoded greedily, without a decoding graph and rules of the native engine.
        ModelError: ONNX Runtime cannot load the files.
        ProviderUnavailable: The provider does not run all of it and no fallback is allowed.
    """
    if settings.decoding_method != "greedy_search":
        raise ConfigurationError(
            f"engine.decoding_method = {settings.decoding_method!r} does not work with provider "
            f"{choice.provider!r}; set it to 'greedy_search'"
        )
    if settings.graph and settings.use_graph:
        raise ConfigurationError(
            f"engine.graph = {settings.graph!r} does not work with provider {choice.provider!r}; leave it empty"
        )
    if has_rules(settings):
        raise ConfigurationError(
            f"engine.rule_fsts and the like do not work with provider {choice.provider!r}; use text.itn"
        )
    files = model_files(directory, manifest, family)
    if choice.provider == "qnn":
        files |= {role: files.get(f"{role}{CONTEXT}", files[role]) for role in family.roles}
    runtime = OrtRuntime(
        ort_provider(choice.provider),
        parse_options(settings.provider_options),
        allows_cpu=settings.fallback == "cpu",
        allow_spinning=settings.allow_spinning,
        is_exact=settings.exact_int8,
        saves_memory=settings.memory_profile == "low",
        profile_prefix=profile_prefix,
    )
    recognizer = OrtRecognizer(files, family, runtime, threads=settings.threads, sample_rate_hz=manifest.sample_rate_hz)
    coverage = recognizer.coverage
    graph = "the model's decoding graph is left out: only sherpa-onnx decodes with one, on the CPU"
    has_graph = "graph" in manifest.files and settings.use_graph
    choice = with_notes(choice, partly(choice.provider, coverage), graph if has_graph else "")
    share = coverage.share if coverage.operators else None
    return OnlineEngine(recognizer, manifest, family, settings, choice, takes_batches=False, provider_share=share)


def partly(provider: str, coverage: Coverage) -> str:
    """A sentence on a provider that did not take all; empty where it did."""
    left, count = coverage.operators.get(CPU_PROVIDER, 0), sum(coverage.operators.values())
    if not left:
        return ""
    kinds = ", ".join(f"{number} {kind}" for kind, number in list(coverage.on_cpu.items())[:5])
    return f"provider {provider!r} runs {coverage.share:.0%} of {count} operators; on the CPU are {kinds}"


def parse_options(text: str, name: str = "engine.provider_options") -> dict[str, str]:
    """``key=value,key=value`` as options of a provider.

    Args:
        text: What was written.
        name: Of the setting or option that it was written for.

    Raises:
        ConfigurationError: A part is something else.
    """
    options = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, separator, value = part.partition("=")
        if not separator or not key.strip():
            raise ConfigurationError(f"{name}: {part!r} is no key=value")
        options[key.strip()] = value.strip()
    return options
