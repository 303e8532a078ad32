"""The restrictions of a systemd unit, by bubblewrap: where no systemd runs, the daemon meets what its unit lets it see.

Emulated are the file system (ProtectSystem, ProtectHome, PrivateTmp and the directories of the service), user and
groups, capabilities, umask and the environment. Not emulated: filters of system calls and address families, control
groups.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from configparser import ConfigParser
from pathlib import Path

from tools.debian_root import DebianRoot

INSIDE = Path(__file__).with_name("service_inside.py")
IN_THE_ROOT = "/tmp/service_inside.py"  # noqa: S108 - the sandbox's own
DIRECTORIES: Mapping[str, str] = {
    "StateDirectory": "/var/lib",
    "RuntimeDirectory": "/run",
    "ConfigurationDirectory": "/etc",
}
PATIENCE: Mapping[str, str] = {
    "EDGE_ASR_ADMISSION_ENABLED": "false",
    "EDGE_ASR_LIMITS_HELLO_TIMEOUT_S": "120",
    "EDGE_ASR_LIMITS_IDLE_TIMEOUT_S": "600",
    "EDGE_ASR_WORKER_HANG_TIMEOUT_S": "120",
    "EDGE_ASR_WORKER_LOAD_TIMEOUT_S": "900",
    "EDGE_ASR_WORKER_STALL_TIMEOUT_S": "600",
}
"""Settings with which a daemon bears an emulated processor, many times slower than any board."""
RIGHTS = ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_KILL")
"""Of what starts the service: enough to become its user and to end it. The service itself has none, since they go with
root's number, and can get none: bubblewrap forbids new privileges."""
WRITABLE = ("StateDirectory", "RuntimeDirectory")


def read_service(unit: Path) -> Mapping[str, str]:
    """The ``[Service]`` section; of a setting that stands there twice, the last."""
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit)
    return dict(parser["Service"])


def sandbox(root: Path, service: Mapping[str, str]) -> list[str]:
    """bubblewrap's options for the file system that the service sees.

    Args:
        root: The system's folder on this machine.
        service: The section of its unit.
    """
    options: list[str] = []
    if service.get("ProtectSystem") == "strict":
        options += ["--remount-ro", "/"]
    if service.get("ProtectHome") == "yes":
        options += ["--tmpfs", "/home", "--tmpfs", "/root"]
    if service.get("PrivateTmp") == "yes":
        options += ["--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]  # noqa: S108 - the sandbox's own
    for setting in WRITABLE:
        if name := service.get(setting):
            path = f"{DIRECTORIES[setting]}/{name}"
            options += ["--bind", f"{root}{path}", path]
    return options


def environment(service: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What systemd tells a service of the system; a home is not among it."""
    for setting, parent in DIRECTORIES.items():
        if name := service.get(setting):
            words = setting.removesuffix("Directory").upper()
            yield f"{words}_DIRECTORY", f"{parent}/{name}"
    if seconds := service.get("WatchdogSec"):
        yield "WATCHDOG_USEC", f"{int(seconds)}000000"


def serve_and_ask(root: DebianRoot, unit: Path, user: str, client: Sequence[str], clips: Path) -> str:
    """Start the service's command in a system under the unit's restrictions, and a client beside it.

    Args:
        root: The system.
        unit: The installed unit, on this machine.
        user: Who the service runs as.
        client: Its command; recordings are in ``/mnt``.
        clips: That folder, on this machine.

    Returns:
        What the client printed.

    Raises:
        Failed: The daemon did not start, hear or end as it should.
    """
    service = read_service(unit)
    runtime = root.folder / "run" / service["RuntimeDirectory"]
    runtime.mkdir(exist_ok=True)
    root.run("chown", f"{user}:{user}", f"/run/{service['RuntimeDirectory']}")
    told = {
        "command": service["ExecStart"].split(),
        "user": user,
        "groups": service.get("SupplementaryGroups", "").split(),
        "umask": int(service.get("UMask", "0022"), 8),
        # A service inherits nothing: without the name of the processor, qemu would emulate another than the board's.
        "environment": {**dict(environment(service)), **root.emulation(), **(PATIENCE if root.is_emulated else {})},
        "client": list(client),
    }
    seen = [
        *RIGHTS,
        *sandbox(root.folder, service),
        "--ro-bind",
        str(clips),
        "/mnt",
        "--ro-bind",
        str(INSIDE),
        IN_THE_ROOT,
    ]
    try:
        return root.run("python3", IN_THE_ROOT, json.dumps(told), options=seen)
    finally:
        shutil.rmtree(runtime)  # as systemd does when the service has ended
