"""The table of execution providers: what each runs, what it needs, how to get it, and how it is proven to have run.

Errors, ``doctor``, ``models show`` and ``docs/npu.md`` all read from here. What a board must have (a library, a device
node, a driver) is data too; :mod:`edge_asr.diagnosis` looks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edge_asr.families import FamilyKind

CPU = "cpu"

_SAYS_FALLBACK = "the engine writes a line with “Fallback” to standard error when it uses the CPU instead"
_ASSIGNED = "ONNX Runtime names the provider of every operator of the loaded graph; a rest on the CPU is refused"


@dataclass(frozen=True, slots=True)
class DeviceCheck:
    """Something the board must have."""

    what: str
    paths: tuple[str, ...]
    """Patterns below the root, any of which will do; ``*`` as in a shell."""
    advice: str


@dataclass(frozen=True, slots=True)
class Provider:
    """One name that ``engine.provider`` may have."""

    name: str
    title: str
    """For people."""
    kinds: tuple[FamilyKind, ...]
    """Kinds of models that some engine runs on it; empty for none."""
    formats: tuple[str, ...]
    """Of the model's files."""
    needs: str
    """Build of sherpa-onnx, or plugin of ONNX Runtime."""
    how_to_get: str
    """The next step for somebody who lacks it; begins with a verb, in lower case."""
    proof: str
    """What shows that it ran, and not the CPU."""
    families: tuple[str, ...] = ()
    """Families of streaming models it is limited to; empty for all."""
    why_not: str = ""
    """Why it runs no streaming models."""
    checks: tuple[DeviceCheck, ...] = ()
    refusal: bytes = b""
    """What a build of sherpa-onnx without it holds as text, and one with it does not."""
    library: str = ""
    """Library beside sherpa-onnx's own that a build with it has."""
    package: str = ""
    """Python package whose plugin of ONNX Runtime runs it, where sherpa-onnx does not."""

    def why_not_family(self, family: str) -> str:
        """Why models of a streaming family cannot run on it; empty where they can."""
        if self.why_not:
            return f"not supported for streaming: {self.why_not}"
        if self.families and family not in self.families:
            return f"it runs {', '.join(self.families)} only, and this model is {family}"
        return ""


_BOTH: tuple[FamilyKind, ...] = ("streaming", "segment")
_RKNN_FAMILIES = ("zipformer-transducer", "zipformer2-transducer", "zipformer2-ctc")

QNN_FAMILIES = ("zipformer2-ctc", "nemo-ctc-streaming", "zipformer2-transducer", "zipformer-transducer")

NPU_PROVIDERS = ("rknn", "qnn")
"""Those on which the processor's threads do nothing for the model."""

RKNN_CHIPS = ("rk3562", "rk3566", "rk3568", "rk3576", "rk3588")
"""What models are compiled for."""

RKNN_RUNTIME_VERSION = "2.2.0"
"""Of ``librknnrt.so`` that sherpa-onnx is known to work with; files of a later toolkit may need a later one."""

RKNN_RUNTIME = DeviceCheck(
    "Rockchip's runtime librknnrt.so",
    ("usr/lib/librknnrt.so", "usr/lib/*/librknnrt.so", "lib/librknnrt.so", "usr/local/lib/librknnrt.so"),
    f"install librknnrt.so {RKNN_RUNTIME_VERSION}, the version known to work",
)
_RKNN_CHECKS = (
    RKNN_RUNTIME,
    DeviceCheck(
        "the kernel's NPU driver",
        ("sys/kernel/debug/rknpu", "sys/module/rknpu", "dev/rknpu", "sys/class/devfreq/*npu*", "dev/dri/by-path/*npu*"),
        "boot a vendor kernel (5.10 or 6.1 of Rockchip) whose device tree enables the NPU",
    ),
)
_QNN_CHECKS = (
    DeviceCheck(
        "the channel to the Hexagon processor",
        ("dev/fastrpc-cdsp*", "dev/adsprpc-smd*", "dev/fastrpc-*"),
        "install the vendor's fastrpc driver and give the service access to /dev/fastrpc-cdsp",
    ),
)

_TABLE = (
    Provider(
        CPU, "processor", _BOTH, ("onnx", "ort"), "any build of sherpa-onnx", "nothing to do",
        "there is nothing it could fall back to",
    ),
    Provider(
        "rknn", "Rockchip NPU (RK3562, RK3566, RK3568, RK3576, RK3588)", ("streaming",), ("rknn",),
        "sherpa-onnx built with RKNN, and librknnrt.so",
        f"install k2's wheel for RKNN (see docs/npu.md) and librknnrt.so {RKNN_RUNTIME_VERSION}, and convert the model "
        "with `edge-asr quantize MODEL -o DIR --format rknn --target rk3588`",
        "the engine ends the process where it cannot; /sys/kernel/debug/rknpu/load shows the cores at work",
        families=_RKNN_FAMILIES, checks=_RKNN_CHECKS, refusal=b"-DSHERPA_ONNX_ENABLE_RKNN=ON",
    ),
    Provider(
        "qnn", "Qualcomm Hexagon NPU", ("streaming",), ("qnn",),
        "the plugin onnxruntime-qnn; sherpa-onnx does not offer QNN to Python",
        "run `pip install 'edge-asr[npu-qnn]'`, and convert the model with "
        "`edge-asr quantize MODEL -o DIR --format qnn`",
        _ASSIGNED, families=QNN_FAMILIES, checks=_QNN_CHECKS, package="onnxruntime_qnn",
    ),
    Provider(
        "spacemit", "SpacemiT K1 and K3 (RISC-V)", _BOTH, ("onnx",),
        "SpacemiT's build of sherpa-onnx and ONNX Runtime for riscv64",
        "install SpacemiT's build of sherpa-onnx on the board", _SAYS_FALLBACK,
        refusal=b"is for SpacemiT AI-CPUs only",
    ),
    Provider(
        "openvino", "Intel NPU, GPU and processor", _BOTH, ("onnx",),
        "sherpa-onnx built against an ONNX Runtime with OpenVINO",
        "build sherpa-onnx against an ONNX Runtime with OpenVINO, or use `ort:OpenVINO` with onnxruntime-openvino",
        _SAYS_FALLBACK, library="libonnxruntime_providers_openvino.so",
    ),
    Provider(
        "cuda", "NVIDIA GPU", _BOTH, ("onnx",), "k2's CUDA wheels of sherpa-onnx",
        "install the CUDA build of sherpa-onnx", _SAYS_FALLBACK, library="libonnxruntime_providers_cuda.so",
    ),
    Provider(
        "trt", "NVIDIA TensorRT", ("streaming",), ("onnx",), "sherpa-onnx built with TensorRT",
        "install a sherpa-onnx build with TensorRT", _SAYS_FALLBACK,
        library="libonnxruntime_providers_tensorrt.so",
    ),
    Provider(
        "coreml", "Apple", _BOTH, ("onnx",), "sherpa-onnx on macOS", "use another provider on Linux",
        _SAYS_FALLBACK, refusal=b"CoreML is for Apple only",
    ),
    Provider(
        "xnnpack", "XNNPACK kernels on the processor", _BOTH, ("onnx",),
        "sherpa-onnx built against an ONNX Runtime with XNNPACK",
        "build sherpa-onnx against an ONNX Runtime with XNNPACK, or use `ort:XNNPACK` with such an onnxruntime",
        _SAYS_FALLBACK,
    ),
    Provider(
        "nnapi", "Android", _BOTH, ("onnx",), "sherpa-onnx on Android", "use another provider on Linux",
        _SAYS_FALLBACK, refusal=b"NNAPI is for Android only",
    ),
    Provider(
        "directml", "Windows", _BOTH, ("onnx",), "sherpa-onnx on Windows", "use another provider on Linux",
        _SAYS_FALLBACK, refusal=b"DirectML is for Windows only",
    ),
    Provider(
        "ascend", "Huawei Ascend (CANN)", ("segment",), ("om",), "sherpa-onnx built with Ascend",
        "build sherpa-onnx with Ascend, and take a non-streaming model made for it", _SAYS_FALLBACK,
        why_not="sherpa-onnx runs non-streaming SenseVoice, Paraformer, Whisper and Zipformer-CTC on it only",
        refusal=b"-DSHERPA_ONNX_ENABLE_ASCEND_NPU=ON",
    ),
    Provider(
        "axera", "Axera AX630C, AX650", ("segment",), ("axmodel",), "sherpa-onnx built with Axera",
        "build sherpa-onnx with Axera, and take a SenseVoice model made for it", _SAYS_FALLBACK,
        why_not="sherpa-onnx runs non-streaming SenseVoice on it only", refusal=b"-DSHERPA_ONNX_ENABLE_AXERA=ON",
    ),
    Provider(
        "axcl", "Axera accelerator cards", ("segment",), ("axmodel",), "sherpa-onnx built with AXCL",
        "build sherpa-onnx with AXCL, and take a SenseVoice model made for it", _SAYS_FALLBACK,
        why_not="sherpa-onnx runs non-streaming SenseVoice on it only", refusal=b"-DSHERPA_ONNX_ENABLE_AXCL=ON",
    ),
    Provider(
        "hailo", "Hailo-8, 8L, 10H (Raspberry Pi AI HAT+)", (), (), "nothing that exists",
        "use the processor: the AI HAT+ does not help a streaming recogniser", "it never runs",
        why_not="sherpa-onnx has no Hailo backend, and no streaming model is published as HEF",
    ),
)  # fmt: skip

PROVIDERS: Mapping[str, Provider] = MappingProxyType({provider.name: provider for provider in _TABLE})
"""Every name that some engine knows, to what it is."""

ORT_PREFIX = "ort:"
"""Before a name of ONNX Runtime: its own execution providers, through :mod:`edge_asr.engines.ort_recognizer`."""

ORT_PROVIDERS = (
    "CPU", "XNNPACK", "OpenVINO", "QNN", "CUDA", "Tensorrt", "NvTensorRTRTX", "MIGraphX", "CoreML", "Nnapi", "ACL",
    "ArmNN", "Dnnl", "CANN", "VitisAI", "VSINPU", "Rknpu", "WebGpu", "Dml", "SpaceMIT",
)  # fmt: skip
"""Execution providers of ONNX Runtime, by its names for them without “ExecutionProvider”."""


def markdown_table() -> str:
    """The table as it stands in ``docs/npu.md``."""
    rows = ["| provider | hardware | streams | files | needs | how it is proven |", "|---|---|---|---|---|---|"]
    for provider in PROVIDERS.values():
        families = ", ".join(provider.families) or "every streaming family"
        streams = f"no: {provider.why_not}" if provider.why_not else families
        files = ", ".join(provider.formats) or "none"
        rows.append(
            f"| `{provider.name}` | {provider.title} | {streams} | {files} | {provider.needs} | {provider.proof} |"
        )
    return "\n".join(rows) + "\n"
