"""Bench documents for the tests of the reports; no figure in them was measured."""

from __future__ import annotations

from typing import Any

import msgspec

from edge_asr.bench.document import (
    Chunks,
    ClipIdentity,
    Configuration,
    Document,
    Figure,
    ModelIdentity,
    OperatorTime,
    Result,
    Run,
    Sample,
    Stages,
    Utterance,
    Violation,
    Workload,
)

THROTTLED = Violation("throttled", "the board throttled: new bit 0x4 while measuring")
MIB = 2**20


def configuration(**changes: Any) -> Configuration:
    return Configuration(**{"model": "starter-en", "mode": "throughput", **changes})


def ratio(value: float | None, **changes: Any) -> Figure:
    return Figure(**{"value": value, "unit": "ratio", "n": 5, **changes})


def milliseconds(value: float | None, **changes: Any) -> Figure:
    return Figure(**{"value": value, "unit": "ms", "n": 700, **changes})


def throughput_run(**changes: Any) -> Run:
    defaults: dict[str, Any] = {
        "repetition": 0,
        "order": 0,
        "provider": "cpu",
        "load_s": 0.5,
        "wall_s": 2.0,
        "audio_s": 20.0,
        "padding_s": 0.5,
        "cpu_s": 2.5,
        "peak_bytes": 80 * MIB,
        "stages": Stages(conversion_s=0.1, features_s=0.3, model_s=1.2, text_s=0.2, total_s=2.0),
        "samples": tuple(
            Sample(at_s=float(at), rss_bytes=70 * MIB, audio_s=at * 10.0, cpu_s=at * 1.2, celsius=50.0 + at)
            for at in range(4)
        ),
    }
    return Run(**{**defaults, **changes})


def throughput_result(threads: int = 1, rtf: float = 0.1, **changes: Any) -> Result:
    defaults: dict[str, Any] = {
        "configuration": configuration(threads=threads),
        "runs": (throughput_run(),),
        "figures": {
            "rtf_wall": ratio(rtf, low=rtf * 0.9, high=rtf * 1.1),
            "rtf_cpu": ratio(rtf * 1.2),
            "wer": Figure(value=0.05, unit="share", n=120),
            "memory_peak": Figure(value=80 * MIB, unit="bytes", n=1),
        },
    }
    return Result(**{**defaults, **changes})


def paced_run(**changes: Any) -> Run:
    defaults: dict[str, Any] = {
        "repetition": 0,
        "order": 1,
        "provider": "cpu",
        "wall_s": 20.0,
        "audio_s": 20.0,
        "cpu_s": 3.0,
        "peak_bytes": 82 * MIB,
        "utterances": (Utterance(clip="one", audio_s=10.0, first_partial_ms=420.0, flush_ms=55.0),),
        "chunks": Chunks(chunk_ms=320.0, compute_ms=(30.0, 32.0, 31.0, 60.0), latency_ms=(33.0, 35.0, 34.0, 64.0)),
        "samples": tuple(
            Sample(at_s=float(at), rss_bytes=(70 + at) * MIB, audio_s=float(at), cpu_s=at * 0.15) for at in range(4)
        ),
    }
    return Run(**{**defaults, **changes})


def paced_result(live_cpu: float = 0.15, **changes: Any) -> Result:
    varied = changes.pop("varied", {})
    defaults: dict[str, Any] = {
        "configuration": configuration(mode="paced", **varied),
        "runs": (paced_run(),),
        "figures": {
            "rtf_cpu_live": ratio(live_cpu),
            "chunk_latency_p50": milliseconds(34.0, low=33.0, high=35.0),
            "chunk_latency_p90": milliseconds(38.0, low=37.0, high=41.0),
            "chunk_latency_p99": milliseconds(None, n=64, note="n too small (64, 662 needed)"),
            "deadline_miss": Figure(value=0.0, unit="share", n=700),
            "flush_latency_p50": milliseconds(55.0, n=12),
        },
    }
    return Result(**{**defaults, **changes})


def document(*results: Result, **changes: Any) -> Document:
    defaults: dict[str, Any] = {
        "created": "2026-01-02T03:04:05+00:00",
        "command": ("edge-asr", "bench", "starter-en", "--audio", "my clips"),
        "seed": 7,
        "versions": {"edge-asr": "0.1.0", "kernel": "6.6.51"},
        "board": {"model": "Raspberry Pi 4 Model B Rev 1.4", "cores": 4, "clusters": [{"part": "Cortex-A72"}]},
        "settings": {"engine": {"num_threads": 1}},
        "models": (
            ModelIdentity(
                name="starter-en",
                version="1",
                family="zipformer2-transducer",
                precision="int8",
                chunk_ms=320.0,
                files={"encoder": "a" * 64, "joiner": "b" * 64},
                size_bytes=5 * MIB,
            ),
        ),
        "workload": Workload(
            source="bundled",
            language="en",
            normaliser="whisper-english 0.0.10",
            clips=(ClipIdentity(name="one", sha256="c" * 64, audio_s=10.0, text="go forward ten meters"),),
        ),
        "results": results,
    }
    return Document(**{**defaults, **changes})


def disturbed(result: Result, *violations: Violation) -> Result:
    """The same result, with its first run disturbed."""
    first, *others = result.runs
    return msgspec.structs.replace(
        result, runs=(msgspec.structs.replace(first, violations=violations or (THROTTLED,)), *others)
    )


def operators() -> tuple[OperatorTime, ...]:
    return (
        OperatorTime(graph="encoder", operator="MatMulInteger", calls=400, total_ms=900.0, share=0.75),
        OperatorTime(graph="encoder", operator="Softmax", calls=100, total_ms=300.0, share=0.25),
    )
