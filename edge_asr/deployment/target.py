"""The kind of machine that wheels are collected for, which is not the one that collects them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Machine = Literal["aarch64", "x86_64"]
"""As ``uname -m`` says it. Not ``armv7l``: its index lacks wheels that the package needs (docs/install.md)."""

Release = Literal["bookworm", "trixie"]
"""Of Debian, and of Raspberry Pi OS, which is Debian with another kernel."""

OLDEST_GLIBC_MINOR = 17
"""glibc 2.17, of the oldest wheels there are for these machines."""


@dataclass(frozen=True, slots=True)
class Target:
    """What decides which wheel fits."""

    machine: Machine
    python: str
    """Major and minor version, such as ``3.11``."""
    glibc_minor: int
    """N of glibc 2.N."""

    def pip_options(self) -> list[str]:
        """What makes pip choose for this machine; it then takes wheels only, never something to compile."""
        tags = [f"--platform={tag}" for tag in wheel_platforms(self.glibc_minor, self.machine)]
        return ["--only-binary=:all:", "--implementation=cp", f"--python-version={self.python}", *tags]

    def marker_environment(self) -> dict[str, str]:
        """The words of environment markers (PEP 508) as that machine's Python would fill them in."""
        return {
            "extra": "",
            "implementation_name": "cpython",
            "os_name": "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_system": "Linux",
            "python_full_version": f"{self.python}.0",
            "python_version": self.python,
            "sys_platform": "linux",
        }


_PYTHON_AND_GLIBC: Mapping[Release, tuple[str, int]] = MappingProxyType(
    {"bookworm": ("3.11", 36), "trixie": ("3.13", 41)}
)


def debian_target(release: Release, machine: Machine) -> Target:
    """A machine with that release's own Python and C library."""
    python, glibc_minor = _PYTHON_AND_GLIBC[release]
    return Target(machine, python, glibc_minor)


def wheel_platforms(glibc_minor: int, machine: str) -> list[str]:
    """Tags of wheels that run with glibc 2.``glibc_minor``, the newest first."""
    tags = [f"manylinux_2_{minor}_{machine}" for minor in range(glibc_minor, OLDEST_GLIBC_MINOR - 1, -1)]
    return [*tags, f"manylinux2014_{machine}"]
