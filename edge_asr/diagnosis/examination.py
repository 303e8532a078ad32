"""Read everything, ask every kind of finding: what ``edge-asr doctor`` runs."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from edge_asr.diagnosis.date import clock_findings
from edge_asr.diagnosis.engine import engine_findings, model_load_findings, provider_findings
from edge_asr.diagnosis.finding import Finding
from edge_asr.diagnosis.memory import memory_group_findings, model_memory_findings, swap_findings
from edge_asr.diagnosis.network import DoorAddress, port_findings
from edge_asr.diagnosis.npu import npu_findings, rknn_version_findings
from edge_asr.diagnosis.power import governor_findings, power_findings, temperature_findings
from edge_asr.diagnosis.probes import try_model, try_providers, try_sound_library
from edge_asr.diagnosis.processor import feature_findings, system_findings
from edge_asr.diagnosis.sound import device_findings, library_findings, permission_findings, session_findings
from edge_asr.diagnosis.storage import model_findings, space_findings, writable_findings
from edge_asr.engines.provider_table import CPU, PROVIDERS, RKNN_RUNTIME
from edge_asr.errors import EdgeAsrError, ModelDamaged, StoreNotWritable
from edge_asr.resources.accounts import read_account
from edge_asr.resources.board import read_board
from edge_asr.resources.cgroup import has_memory_controller, own_group
from edge_asr.resources.frequency import read_policies
from edge_asr.resources.listeners import read_listeners
from edge_asr.resources.memory import available_bytes
from edge_asr.resources.npu import find_device_file, read_npu_driver, read_rknn_runtime
from edge_asr.resources.processes import read_running_program
from edge_asr.resources.procfs import read_text
from edge_asr.resources.sound import read_capture_devices
from edge_asr.resources.swap import read_swap_areas
from edge_asr.resources.thermal import hottest_celsius
from edge_asr.resources.throttling import read_throttling, read_under_voltage_alarm
from edge_asr.resources.wall_clock import read_wall_clock
from edge_asr.settings import EngineSettings, ServerSettings
from edge_asr.store.digest import check_files
from edge_asr.store.inspect import inspect_model
from edge_asr.store.rknn_header import read_rknn
from edge_asr.store.store import DEFAULT_MODEL, InstalledModel, ModelStore
from edge_asr.workers.loading import needed_bytes


def examine_board(root: Path = Path("/")) -> Iterator[Finding]:
    """The machine itself: processor, power, heat, clock frequency, memory."""
    board = read_board(root)
    yield from system_findings(board)
    yield from feature_findings(board)
    yield from power_findings(read_throttling(root), read_under_voltage_alarm(root))
    yield from temperature_findings(hottest_celsius(root))
    yield from governor_findings(read_policies(root))
    command_line = read_text(root / "proc/cmdline") or ""
    yield from memory_group_findings(board.model, has_memory_controller(root), command_line)
    yield from swap_findings(read_swap_areas(root))


def examine_sound(root: Path = Path("/")) -> Iterator[Finding]:
    """Devices that record, who holds them, and whether we may open them."""
    devices = read_capture_devices(root)
    pids = {device.holder_pid for device in devices if device.holder_pid is not None}
    yield from device_findings(devices, {pid: read_running_program(pid, root) for pid in pids})
    yield from permission_findings(devices, read_account(root))
    yield from session_findings(own_group(root), _sound_servers(root))


def examine_doors(settings: ServerSettings, root: Path = Path("/")) -> Iterator[Finding]:
    """The addresses the daemon would listen on."""
    listeners = read_listeners(root)
    programs = {
        listener.pid: read_running_program(listener.pid, root) for listener in listeners if listener.pid is not None
    }
    yield from port_findings(tuple(_doors(settings)), listeners, programs)


def examine_npus(
    settings: EngineSettings, models: Sequence[InstalledModel], root: Path = Path("/")
) -> Iterator[Finding]:
    """What NPUs need of the board: their drivers, their libraries, and versions that fit together.

    Args:
        settings: Which provider is configured.
        models: The installed ones, for what they were compiled with.
        root: Where ``dev``, ``sys`` and ``usr`` are.
    """
    configured = settings.provider.strip().lower()
    for provider in PROVIDERS.values():
        met = {check: find_device_file(check.paths, root) is not None for check in provider.checks}
        yield from npu_findings(
            provider, met, is_configured=provider.name == configured, has_fallback=settings.fallback == CPU
        )
    library = find_device_file(RKNN_RUNTIME.paths, root)
    if library is not None:
        yield from rknn_version_findings(read_rknn_runtime(library), read_npu_driver(root), _compilers(models))


def examine_store(store: ModelStore, served: str) -> Iterator[Finding]:
    """Every installed model by its checksums and graphs, the one to be served above all, and room for new ones."""
    examined: dict[str, EdgeAsrError | None] = {model.manifest.name: _whats_wrong(model) for model in store.installed()}
    yield from model_findings(examined | store.damaged(), served)
    try:
        root = store.writable_root
    except StoreNotWritable as error:
        yield from writable_findings(error)
        return
    yield from space_findings(root, shutil.disk_usage(root).free)


def examine_engine(
    store: ModelStore, model: InstalledModel, settings: EngineSettings, vad_model: Path | None
) -> Iterator[Finding]:
    """The engine, the model that would be served, and the providers: each tried in a process of its own."""
    bundled = store.find(DEFAULT_MODEL)
    failure = try_model(bundled, EngineSettings())
    yield from engine_findings(failure)
    if failure is not None:
        return  # the rest would fail for the same reason
    name = model.manifest.name
    memory = tuple(_memory_for(model))
    yield from memory
    if all(finding.level != "error" for finding in memory):  # else trying could end other programs
        yield from model_load_findings(name, try_model(model, settings, vad_model))
    yield from provider_findings(try_providers(bundled))


def examine_surroundings() -> Iterator[Finding]:
    """What only the running system can tell: its date, and its sound library."""
    yield from clock_findings(read_wall_clock())
    yield from library_findings(try_sound_library())


def _memory_for(model: InstalledModel) -> Iterator[Finding]:
    try:
        needed = needed_bytes(model.directory, model.manifest)
    except OSError:
        return  # a file is missing, which the store's examination says
    yield from model_memory_findings(model.manifest.name, needed, available_bytes())


def _compilers(models: Sequence[InstalledModel]) -> Mapping[str, str]:
    """Of models for Rockchip's NPU: the version of the toolkit that compiled them."""
    compilers = {}
    for model in models:
        for file in model.manifest.files.values():
            if file.path.endswith(".rknn"):
                with suppress(ModelDamaged):  # the store's examination says so
                    compilers[model.manifest.name] = read_rknn(model.directory / file.path).toolkit
    return compilers


def _whats_wrong(model: InstalledModel) -> EdgeAsrError | None:
    try:
        check_files(model.manifest, model.directory)
        inspect_model(model.directory, model.manifest)
    except EdgeAsrError as error:
        return error
    return None


def _sound_servers(root: Path) -> tuple[str, ...]:
    sessions = root / "run/user"
    found = (*sessions.glob("*/pipewire-0"), *sessions.glob("*/pulse/native"))
    return tuple(sorted(f"/{path.relative_to(root)}" for path in found))


def _doors(settings: ServerSettings) -> Iterator[DoorAddress]:
    if settings.port:  # 0 takes a free one
        for host in _addresses(settings.host):
            yield DoorAddress("http", "server.port", host, settings.port)
    for name, port in (("vosk", settings.vosk_port), ("sherpa", settings.sherpa_port)):
        if port:
            for host in _addresses(settings.host):
                yield DoorAddress(name, f"server.{name}_port", host, port)
    uri = urlsplit(settings.wyoming)
    if uri.scheme == "unix":
        yield DoorAddress("wyoming", "server.wyoming", path=uri.path)
    elif uri.scheme == "tcp" and uri.port:
        for host in _addresses(uri.hostname or ""):
            yield DoorAddress("wyoming", "server.wyoming", host, uri.port)


def _addresses(host: str) -> list[str]:
    """A name as addresses; empty when it is none, which the daemon itself will say."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
