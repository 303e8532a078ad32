"""A Debian system in a folder: made from this machine's own sources, entered by bubblewrap, emulated where it is arm64.

What runs in it sees a process table, devices and a network of its own kind only as far as it is let: the install of a
package wants a network, the use of an installed one must do without.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edge_asr.deployment.target import Machine, Release
from tools.arm64_boards import BOARDS, write_board
from tools.arm64_programs import ensure_program
from tools.arm64_sysroot import sources_of_this_machine

ARCHITECTURES: Mapping[Machine, str] = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian's words for what the kernel calls otherwise."""

PROGRAMS = {"mmdebstrap": "mmdebstrap", "arch-test": "arch-test", "bwrap": "bubblewrap"}
"""What making and entering a system needs of this machine, and Debian's packages of it."""

CPU = "cortex-a72"
"""Emulated for arm64: a Raspberry Pi 4."""

EMULATOR = "qemu-aarch64-static"
BINFMT = Path("/proc/sys/fs/binfmt_misc")
OUR_FORMAT = "edge-asr-aarch64"
AARCH64_FORMAT = (
    f":{OUR_FORMAT}:M::"
    r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:"
    r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:"
)
"""The head of an ELF executable for aarch64, as the kernel's table of binary formats wants it."""

RETRIES = 5
"""Of apt, when a mirror does not answer."""
LAST_WORDS = 4000
"""Characters of what mmdebstrap said that are shown when it fails."""

PLAIN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


class Failed(Exception):
    """A command in a root failed."""


@dataclass(frozen=True, slots=True)
class DebianRoot:
    """A folder with a Debian system in it."""

    folder: Path
    machine: Machine

    @property
    def is_emulated(self) -> bool:
        """Whether its programs are for another processor than this machine's."""
        return self.machine != platform.machine()

    def emulation(self) -> dict[str, str]:
        """The variable that tells the emulator which processor to be."""
        return {"QEMU_CPU": CPU} if self.is_emulated else {}

    def command(
        self,
        words: Sequence[str],
        *,
        has_network: bool = False,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> list[str]:
        """What runs a command in it.

        Args:
            words: The command.
            has_network: Whether it reaches this machine's network; else not even loopback of this machine.
            options: More of bubblewrap's.
            environment: Beside ``PLAIN``.
        """
        variables = {**PLAIN, **(environment or {}), **self.emulation()}
        seen = ["--bind", str(self.folder), "/", "--dev", "/dev", "--proc", "/proc", *self._board()]
        seen += ["--ro-bind", "/etc/resolv.conf", "/etc/resolv.conf"] if has_network else ["--unshare-net"]
        apart = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--clearenv"]
        named = [part for name, value in variables.items() for part in ("--setenv", name, value)]
        return ["bwrap", *seen, *apart, "--cap-add", "ALL", *named, *options, "--", *words]

    def run(
        self,
        *words: str,
        has_network: bool = False,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command as root and return its standard output; its errors are shown.

        Raises:
            Failed: It failed; with what it wrote to standard output.
        """
        command = self.command(words, has_network=has_network, options=options, environment=environment)
        ran = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if ran.returncode != 0:
            raise Failed(f"{ran.stdout}`{shlex.join(words)}` left with {ran.returncode} in {self.folder}")
        return ran.stdout

    def _board(self) -> list[str]:
        """The kernel's words on a board, where one is emulated: those on this machine would lead onnxruntime astray."""
        if not self.is_emulated:
            return []
        words = self.folder.with_name(f"{self.folder.name}.board")
        write_board(words, BOARDS[CPU])
        # /proc/device-tree is a link into /sys.
        return ["--ro-bind", str(words / "proc/cpuinfo"), "/proc/cpuinfo", "--ro-bind", str(words / "sys"), "/sys"]


def ensure_root(folder: Path, release: Release, machine: Machine, packages: Sequence[str] = ()) -> DebianRoot:
    """Make such a system, unless there is one in that folder.

    Args:
        folder: Where.
        release: Of Debian.
        machine: Whose programs are in it.
        packages: Beside the essential ones and apt.

    Raises:
        Failed: It cannot be made, with what was said last.
    """
    if not folder.exists():
        print(f"making {folder}", file=sys.stderr)
        unfinished = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        mirror = next(source.uri for source in sources_of_this_machine())
        command = ["mmdebstrap", "--variant=apt", f"--architectures={ARCHITECTURES[machine]}"]
        command += [f'--aptopt=Acquire::Retries "{RETRIES}"']
        command += [f"--include={','.join(packages)}"] if packages else []
        ran = subprocess.run(
            [*command, release, str(unfinished), mirror], check=False, stderr=subprocess.PIPE, text=True
        )
        if ran.returncode != 0:
            raise Failed(f"mmdebstrap could not make {folder}; its last words:\n{ran.stderr[-LAST_WORDS:]}")
        unfinished.rename(folder)
    return DebianRoot(folder, machine)


@contextlib.contextmanager
def arm64_programs() -> Iterator[None]:
    """The kernel starts programs for arm64 by the emulator; as before, afterwards."""
    emulator = ensure_program([EMULATOR], "qemu-user-static")
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT)], check=True)
    if any(_is_for_arm64(entry) for entry in BINFMT.iterdir()):
        yield
        return
    # F opens the emulator now, so that it need not be in the root; C and O give programs their own rights and names.
    (BINFMT / "register").write_text(f"{AARCH64_FORMAT}{emulator}:FOC")
    try:
        yield
    finally:
        (BINFMT / OUR_FORMAT).write_text("-1")


def _is_for_arm64(entry: Path) -> bool:
    return "aarch64" in entry.name and "enabled" in entry.read_text()


def why_not(folder: Path, free_mib: int) -> str:
    """Why no systems can be made on this machine; empty where they can.

    Args:
        folder: Where they would lie.
        free_mib: What they take, MiB.
    """
    if os.geteuid() != 0:
        return "making systems is root's: run this with sudo"
    if (free := shutil.disk_usage(folder).free >> 20) < free_mib:
        return f"{folder} has {free} MiB free, and {free_mib} MiB are needed; name another place with --folder"
    for program, package in PROGRAMS.items():
        ensure_program([program], package)
    trial = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid", "true"]
    ran = subprocess.run(trial, capture_output=True, check=False, text=True)
    return f"no namespaces may be made here: {ran.stderr.strip()}" if ran.returncode != 0 else ""
