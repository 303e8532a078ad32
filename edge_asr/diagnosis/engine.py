"""What the native engine did in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from edge_asr.diagnosis.finding import Finding
from edge_asr.errors import EdgeAsrError


def engine_findings(failure: EdgeAsrError | None) -> Iterator[Finding]:
    """Whether the engine runs here at all.

    Args:
        failure: What became of loading the bundled model on the CPU; ``None`` when it decoded.
    """
    if failure is None:
        yield Finding("ok", "engine", "the engine loads and decodes here (tried in a process of its own)")
        return
    yield Finding(
        "error",
        "engine_unusable",
        f"the engine does not run here: {failure}",
        "without it nothing is recognised",
        "install edge-asr again in a new virtual environment, from wheels for this processor",
    )


def model_load_findings(model: str, failure: EdgeAsrError | None) -> Iterator[Finding]:
    """Whether the model that would be served loads on the provider that is configured."""
    if failure is None:
        yield Finding("ok", "model_loads", f"model {model!r} loads and decodes (tried in a process of its own)")
        return
    yield Finding(
        "error",
        failure.code,
        str(failure),
        "the daemon does not start with it",
        "run `edge-asr models verify`, or choose another with `edge-asr models activate`",
    )


def provider_findings(tried: Mapping[str, str]) -> Iterator[Finding]:
    """Which execution providers really run.

    Args:
        tried: Name to the reason why it does not run; empty for one that does.
    """
    running = [name for name, reason in tried.items() if not reason]
    if running:
        yield Finding("ok", "providers", f"execution providers that run here: {', '.join(running)}")
    missing = [name for name, reason in tried.items() if reason]
    if missing:
        yield Finding(
            "info",
            "providers_missing",
            f"execution providers that do not run here: {', '.join(missing)}",
            "the installed build of the engine was made without them, or their hardware is not here",
            "nothing to do for the CPU; for another, install the engine's build for it",
        )
