"""The doors the daemon would open: whether their addresses are free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from edge_asr.diagnosis.finding import Finding
from edge_asr.resources.listeners import Listener
from edge_asr.resources.processes import RunningProgram

_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104  recognised, not bound


@dataclass(frozen=True, slots=True)
class DoorAddress:
    """Where a door of the configuration would listen."""

    door: str
    setting: str
    """What to change: ``server.port``."""
    host: str = ""
    port: int | None = None
    path: str = ""
    """Of a unix socket."""

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"


def port_findings(
    doors: Sequence[DoorAddress], listeners: Sequence[Listener], programs: Mapping[int, RunningProgram | None]
) -> Iterator[Finding]:
    """Whether somebody listens there already.

    Args:
        doors: Of the configuration.
        listeners: All of this machine.
        programs: By process number; a listener's is missing when it is not ours to know.
    """
    for door in doors:
        taken = next((listener for listener in listeners if _is_same(door, listener)), None)
        if taken is None:
            yield Finding("ok", "port_free", f"the {door.door} door ({door}) is free")
            continue
        program = programs.get(taken.pid) if taken.pid is not None else None
        if program is not None and program.is_ours:
            yield Finding("ok", "daemon_running", f"an edge-asr daemon listens at the {door.door} door ({door})")
            continue
        who = f"{program.name} (process {program.pid})" if program else "another program (root sees which)"
        yield Finding(
            "error",
            "port_taken",
            f"{who} listens at the {door.door} door ({door})",
            "the daemon does not start when a door is taken",
            f"stop that program, or set {door.setting} to another address",
        )


def _is_same(door: DoorAddress, listener: Listener) -> bool:
    if door.path:
        return listener.port is None and listener.address == door.path
    is_same_host = door.host == listener.address or bool({door.host, listener.address} & _EVERYWHERE)
    return door.port == listener.port and is_same_host
