"""What the board has of what an NPU needs, and whether its parts fit together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from edge_asr.diagnosis.finding import Finding, Level
from edge_asr.engines.provider_table import RKNN_RUNTIME, RKNN_RUNTIME_VERSION, DeviceCheck, Provider

_MAY_CRASH = ("2.3.", "2.4.")
"""What sherpa-onnx's documentation says of librknnrt."""


def npu_findings(
    provider: Provider, met: Mapping[DeviceCheck, bool], *, is_configured: bool, has_fallback: bool
) -> Iterator[Finding]:
    """Whether the board has a provider's hardware and what goes with it.

    Args:
        provider: Of the table.
        met: Each of its checks, and whether the board has that.
        is_configured: Whether ``engine.provider`` names it.
        has_fallback: Whether the CPU may take its place.
    """
    if not met or not (is_configured or any(met.values())):
        return  # nothing to look for, or no such board
    level: Level = "info" if not is_configured else "warning" if has_fallback else "error"
    for check in (check for check, is_met in met.items() if not is_met):
        yield Finding(
            level,
            "npu_incomplete",
            f"{provider.title}: {check.what} is missing",
            "the CPU takes its place" if is_configured and has_fallback else f"provider {provider.name!r} does not run",
            check.advice,
        )
    if all(met.values()):
        yield Finding("ok", "npu", f"{provider.title}: {' and '.join(check.what for check in met)} are here")


def rknn_version_findings(runtime: str, driver: str, models: Mapping[str, str]) -> Iterator[Finding]:
    """Whether Rockchip's runtime, its driver and the compiled models fit together.

    Args:
        runtime: Version of ``librknnrt.so``; empty where it is not known.
        driver: Version of the kernel's driver; empty where it is not known.
        models: Compiled models to the version of the toolkit that compiled them.
    """
    if not runtime:
        return
    parts = f"librknnrt.so {runtime}, driver {driver or 'of unknown version'}"
    if runtime == RKNN_RUNTIME_VERSION:
        yield Finding("ok", "npu_runtime", parts)
    else:
        is_bad = runtime.startswith(_MAY_CRASH)
        yield Finding(
            "warning" if is_bad else "info",
            "npu_runtime",
            parts,
            f"sherpa-onnx {'may crash' if is_bad else 'is not known to work'} with it",
            RKNN_RUNTIME.advice,
        )
    for name, toolkit in models.items():
        if _numbers(toolkit) > _numbers(runtime):
            yield Finding(
                "warning",
                "npu_model_newer",
                f"model {name!r} was compiled by rknn-toolkit2 {toolkit}, the runtime is {runtime}",
                "an older runtime may refuse it (“Invalid RKNN model version”)",
                f"install librknnrt.so {toolkit}, or compile the model with rknn-toolkit2 {runtime}",
            )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]
