"""ONNX Runtime's execution providers: found, given to a session, and asked what they really run.

Some are part of the installed ``onnxruntime``, others are plugins in packages of their own, which are registered first
(QNN). Without leave to do so a session puts nothing on the CPU that its provider refuses.
"""

from __future__ import annotations

import functools
import importlib
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

from edge_asr.engines.provider_table import PROVIDERS
from edge_asr.errors import LibraryMissing, ProviderUnavailable

LOAD_ERRORS = (state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf, state.NoSuchFile,
               state.NotImplemented, state.RuntimeException, state.EPFail, ValueError, RuntimeError)  # fmt: skip
RUN_ERRORS = (state.Fail, state.InvalidArgument, state.RuntimeException, state.EPFail)

CPU_PROVIDER = "CPUExecutionProvider"

_ERRORS_ONLY = 3
_PLUGINS: Mapping[str, str] = {"QNNExecutionProvider": "onnxruntime_qnn"}
"""Execution provider to the package that brings it."""
_BOUND_FIRST = ("_ctypes", "_cffi_backend")
"""What calls libffi. Qualcomm's simulator shows an old libffi of its own to all that is loaded after it, which then
crashes, or reads a recording of other lengths (soundfile). What Python loads earlier is bound already."""
_DEFAULT_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "QNNExecutionProvider": {"backend_type": "htp", "htp_graph_finalization_optimization_mode": "3"},
}


@dataclass(frozen=True, slots=True)
class OrtRuntime:
    """How sessions are made."""

    provider: str = "CPU"
    """Without “ExecutionProvider”."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of the provider, over its defaults here."""
    allows_cpu: bool = False
    """Whether operators that the provider refuses may run on the CPU."""
    allow_spinning: bool = False
    is_exact: bool = True
    """Without VNNI the 8-bit products of x86 saturate, and errors show that no ARM board has."""
    saves_memory: bool = False
    profile_prefix: str = ""
    """Where the operator trace is written when the session is freed."""
    entries: Mapping[str, str] = field(default_factory=dict)
    """Further entries of the session's configuration."""

    @property
    def execution_provider(self) -> str:
        """ONNX Runtime's full name for it."""
        return f"{self.provider}ExecutionProvider"


WORKSTATION = OrtRuntime()
"""For comparing models: as a board computes them."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What runs the operators of one graph, once optimised."""

    operators: Mapping[str, int]
    """Execution provider to how many of the original graph's operators it took."""
    on_cpu: Mapping[str, int]
    """Kinds of operators left to the CPU, the most frequent first."""

    @property
    def share(self) -> float:
        """Part of the operators that does not run on the CPU, 0 to 1; 0 for an empty graph."""
        count = sum(self.operators.values())
        return 1 - self.operators.get(CPU_PROVIDER, 0) / count if count else 0.0

    def plus(self, other: Coverage) -> Coverage:
        """Of two graphs together."""
        operators = Counter(self.operators) + Counter(other.operators)
        return Coverage(dict(operators), dict((Counter(self.on_cpu) + Counter(other.on_cpu)).most_common()))


NO_COVERAGE = Coverage({}, {})


def open_session(source: Path | bytes, name: str, threads: int, runtime: OrtRuntime) -> onnxruntime.InferenceSession:
    """Load a graph on the runtime's provider.

    Raises:
        ProviderUnavailable: The provider is not here, or does not run all of it and that is not allowed.
        LibraryMissing: The package of the provider is not installed.
    """
    try:
        return _session(source, threads, runtime)
    except LOAD_ERRORS as error:
        if runtime.execution_provider == CPU_PROVIDER or not _speaks_of_provider(error):
            raise
        raise ProviderUnavailable(_name(runtime), f"{name}: {_why_refused(source, threads, runtime, error)}") from error


def coverage_of(session: onnxruntime.InferenceSession) -> Coverage:
    """Which provider took which operators of a session on another provider than the CPU."""
    operators: Counter[str] = Counter()
    on_cpu: Counter[str] = Counter()
    for part in session.get_provider_graph_assignment_info():
        nodes = part.get_nodes()
        operators[part.ep_name] += len(nodes)
        if part.ep_name == CPU_PROVIDER:
            on_cpu.update(node.op_type for node in nodes)
    return Coverage(dict(operators), dict(on_cpu.most_common()))


def first_line(error: Exception) -> str:
    """What ONNX Runtime says, without its trace."""
    return str(error).strip().splitlines()[0]


def _session(source: Path | bytes, threads: int, runtime: OrtRuntime) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    entries = {"session.intra_op.allow_spinning": str(int(runtime.allow_spinning))}
    if runtime.is_exact:
        entries["session.x64quantprecision"] = "1"
    if runtime.saves_memory:
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    if runtime.profile_prefix:
        options.enable_profiling, options.profile_file_prefix = True, runtime.profile_prefix
    is_elsewhere = runtime.execution_provider != CPU_PROVIDER
    if is_elsewhere:
        entries["session.record_ep_graph_assignment_info"] = "1"
        entries["session.disable_cpu_ep_fallback"] = str(int(not runtime.allows_cpu))
    for key, value in {**entries, **runtime.entries}.items():
        options.add_session_config_entry(key, value)
    model = str(source) if isinstance(source, Path) else source
    if not is_elsewhere:
        return _created(model, options, providers=[CPU_PROVIDER])
    chosen = {**_DEFAULT_OPTIONS.get(runtime.execution_provider, {}), **runtime.options}
    if runtime.execution_provider in _PLUGINS:
        options.add_provider_for_devices(_devices(runtime), chosen)
        return _created(model, options)
    if runtime.execution_provider not in onnxruntime.get_available_providers():
        raise ProviderUnavailable(_name(runtime), "the installed onnxruntime was built without it; choose another")
    return _created(model, options, providers=[(runtime.execution_provider, chosen)])


def _created(model: str | bytes, options: onnxruntime.SessionOptions, **how: object) -> onnxruntime.InferenceSession:
    """A session that fails where its provider does; ONNX Runtime's Python would take the CPU and print a line."""
    return onnxruntime.InferenceSession(model, options, enable_fallback=0, **how)


def _devices(runtime: OrtRuntime) -> list[onnxruntime.OrtEpDevice]:
    _register(runtime.execution_provider)
    devices = [each for each in onnxruntime.get_ep_devices() if each.ep_name == runtime.execution_provider]
    if not devices:
        raise ProviderUnavailable(_name(runtime), "its plugin finds no device here; choose another")
    return devices


@functools.cache
def _register(execution_provider: str) -> None:
    """Once a process: ONNX Runtime refuses a second time."""
    package = _PLUGINS[execution_provider]
    for module in _BOUND_FIRST:
        with suppress(ImportError):  # not installed: nothing here calls it
            importlib.import_module(module)
    try:
        plugin = importlib.import_module(package)
    except ImportError as error:
        raise LibraryMissing(f"the Python package {package!r}", PROVIDERS["qnn"].how_to_get) from error
    onnxruntime.register_execution_provider_library(execution_provider, plugin.get_library_path())


def _speaks_of_provider(error: Exception) -> bool:
    return any(word in str(error) for word in ("fallback to CPU", "QNN", "ExecutionProvider", "EP "))


def _why_refused(source: Path | bytes, threads: int, runtime: OrtRuntime, error: Exception) -> str:
    """The operators that it refuses, where it can be loaded with them on the CPU."""
    try:
        lenient = OrtRuntime(runtime.provider, runtime.options, allows_cpu=True, entries=runtime.entries)
        coverage = coverage_of(_session(source, threads, lenient))
    except LOAD_ERRORS:
        return f"{first_line(error)}; choose another provider"
    left = ", ".join(f"{count} {kind}" for kind, count in coverage.on_cpu.items())
    on_cpu, count = coverage.operators.get(CPU_PROVIDER, 0), sum(coverage.operators.values())
    return (
        f"{on_cpu} of its {count} operators would run on the CPU ({left}); "
        'convert the model for it, or allow that with engine.fallback = "cpu"'
    )


def _name(runtime: OrtRuntime) -> str:
    return "qnn" if runtime.provider == "QNN" else f"ort:{runtime.provider}"
