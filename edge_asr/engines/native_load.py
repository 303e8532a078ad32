"""What surrounds the construction of a native recogniser: session options, and an eye on what it says.

sherpa-onnx takes ONNX Runtime's session options through the provider string, ``name:file``, for all sessions of a
model alike; the file here lives in memory, until the construction has ended. ONNX Runtime could take the thread count
of a single file from its metadata (``ORT_LOAD_CONFIG_FROM_MODEL``), but it then ignores every option of the caller, for
every session: threads for all cores, each pinned to one of its own choice, spinning. So decoder and joiner get as many
threads as the encoder; their steps are too small for ONNX Runtime to share out, and the threads sleep.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from edge_asr.engines.provider_table import CPU
from edge_asr.engines.providers import ProviderChoice, fall_back
from edge_asr.errors import ModelDamaged, ModelError, ModelTooNew
from edge_asr.families import ModelFamily
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings, NpuCores

_log = logging.getLogger(__name__)

Factory = Callable[..., Any]
"""A ``from_…`` class method of sherpa-onnx."""

_STDERR = 2
_NPU_CORES: Mapping[NpuCores, int] = {"auto": 1, "0": 0, "1": -1, "2": -2, "0+1": -3, "0+1+2": -4}
"""As sherpa-onnx's ``SetCoreMask`` reads them; any other number leaves the cores to chance."""
_PREFIX = re.compile(r"^\S+\.(?:cc|h):\w+:\d+\s+")
"""How the engine begins a line: source file, function, line number."""
_TOO_NEW = (
    (re.compile(r"Unsupported model IR version: (\d+), max supported IR version: (\d+)"), "ONNX file version (IR)"),
    (re.compile(r"Opset (\d+) is under development.*till opset (\d+)"), "ONNX operator set"),
)
"""How ONNX Runtime says that a file is too new: what the file has, and what the runtime knows."""


def session_options(settings: EngineSettings, profile_prefix: str = "") -> str:
    """ONNX Runtime's options in sherpa-onnx's file format, one ``key=value`` a line.

    Args:
        settings: Spinning, memory, and how 8-bit numbers are multiplied.
        profile_prefix: Where the runtime writes its operator profiles when a session is freed; empty for nowhere.
    """
    spinning = int(settings.allow_spinning)
    lines = [
        f"SessionConfig.session.intra_op.allow_spinning={spinning}",
        f"SessionConfig.session.inter_op.allow_spinning={spinning}",
    ]
    if settings.exact_int8:
        lines.append("SessionConfig.session.x64quantprecision=1")
    if settings.memory_profile == "low":
        lines += ["EnableCpuMemArena=0", "EnableMemPattern=0"]
    if profile_prefix:
        lines.append(f"ProfilingFilePrefix={profile_prefix}")
    return "\n".join(lines) + "\n"


def construct(
    factory: Factory,
    arguments: Mapping[str, object],
    *,
    model: str,
    settings: EngineSettings,
    choice: ProviderChoice,
    profile_prefix: str = "",
) -> tuple[Any, ProviderChoice]:
    """Call the factory with the chosen provider and the session options.

    Args:
        factory: Class method of sherpa-onnx.
        arguments: Its arguments, but for ``provider`` and ``num_threads``; files as paths.
        model: Name for error sentences.
        settings: Threads, spinning, memory, and whether a fallback is allowed.
        choice: The provider to try.
        profile_prefix: As in :func:`session_options`.

    Returns:
        The recogniser, and the provider it really runs on.

    Raises:
        ModelDamaged: The engine cannot read the files.
        ModelTooNew: The files are newer than the engine's runtime.
        ProviderUnavailable: The engine fell back to the CPU and that is not allowed.
    """
    with ExitStack() as stack:
        content = session_options(settings, profile_prefix).encode()
        options = stack.enter_context(file_in_memory("session-options", content))
        call = dict(arguments)
        call |= {"num_threads": native_threads(choice.provider, settings), "provider": f"{choice.provider}:{options}"}
        said = stack.enter_context(_overheard(is_needed=choice.provider != CPU))
        try:
            recognizer = factory(**{key: _plain(value) for key, value in call.items()})
        except (RuntimeError, ValueError, AssertionError) as error:
            raise load_error(model, str(error)) from error
    fallen = fallback_line(said())
    if not fallen:
        return recognizer, choice
    return recognizer, fall_back(choice.provider, f"the engine says {fallen!r}", settings)


def native_threads(provider: str, settings: EngineSettings) -> int:
    """``num_threads`` of sherpa-onnx; with ``rknn`` it is a code for the NPU's cores."""
    return _NPU_CORES[settings.npu_cores] if provider == "rknn" else settings.threads


def model_files(directory: Path, manifest: ModelManifest, family: ModelFamily) -> dict[str, Path]:
    """Every role of the family that the manifest fills, as an existing file.

    Raises:
        ModelDamaged: A role is not filled, or its file is not there.
    """
    missing = [role for role in family.roles if role not in manifest.files]
    if missing:
        raise ModelDamaged(manifest.name, f"the manifest names no file for {', '.join(missing)}")
    files = {
        role: directory / manifest.files[role].path
        for role in (*family.roles, *family.optional_roles)
        if role in manifest.files
    }
    for role, path in files.items():
        if not path.is_file():
            raise ModelDamaged(manifest.name, f"the {role} file {path} is missing")
    return files


def load_error(model: str, said: str) -> ModelError:
    """The engine's words about a model it cannot load, as an error of ours."""
    for pattern, what in _TOO_NEW:
        if found := pattern.search(said):
            has, knows = found.groups()
            return ModelTooNew(model, f"it is written in {what} {has}; the installed runtime knows up to {knows}")
    return ModelDamaged(model, f"the engine cannot load it: {' '.join(said.split()) or 'it does not say why'}")


def relevant_line(said: str) -> str:
    """The last line the engine wrote, without its source position; empty when it wrote none."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return _PREFIX.sub("", lines[-1]) if lines else ""


def fallback_line(said: str) -> str:
    """The engine's line that says that another provider is used instead; empty when there is none."""
    for line in said.splitlines():
        if "fallback to" in line.lower():
            return _PREFIX.sub("", line.strip())
    return ""


def with_notes(choice: ProviderChoice, *notes: str) -> ProviderChoice:
    """The choice with further sentences for the operator; empty ones are left out."""
    return replace(choice, notes=(*choice.notes, *(note for note in notes if note)))


@contextmanager
def file_in_memory(name: str, content: bytes) -> Iterator[Path]:
    """A file for native code to read: it needs no writable disk, and vanishes with its descriptor."""
    descriptor = os.memfd_create(f"edge-asr-{name}")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


@contextmanager
def _overheard(*, is_needed: bool) -> Iterator[Callable[[], str]]:
    """What is written to standard error in the context, natively too; it is passed on when the context ends.

    On the CPU there is nothing to overhear, and a process that the engine ends keeps its last words where they belong.
    """
    if not is_needed:
        yield lambda: ""
        return
    said = ""
    original = os.dup(_STDERR)
    heard = os.memfd_create("edge-asr-stderr")
    os.dup2(heard, _STDERR)
    try:
        yield lambda: said
    finally:
        os.dup2(original, _STDERR)
        said = os.pread(heard, os.fstat(heard).st_size, 0).decode(errors="replace")
        os.write(original, said.encode())
        os.close(heard)
        os.close(original)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
