"""The part of ``tools/arm64`` that is written in Python: make the sysroot, then become the command in it."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from tools.arm64_boards import BOARDS
from tools.arm64_programs import CannotEmulate, ensure_program
from tools.arm64_sysroot import COMMANDS, ensure_sysroot

EMULATORS = ("qemu-aarch64-static", "qemu-aarch64")
EMULATOR_PACKAGE = "qemu-user-static"
DEFAULT_CPU = "cortex-a72"
OF_THE_HOST = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables that would lead the emulated Python to packages built for this machine."""


def main() -> None:
    options = _parse()
    try:
        sysroot = ensure_sysroot(ensure_emulator())
    except CannotEmulate as error:
        sys.exit(f"tools/arm64: {error}")
    environment = emulated_environment(os.environ, sysroot.commands(options.cpu))
    os.environ["PATH"] = environment["PATH"]  # where execvpe looks
    os.execvpe(options.command[0], options.command, environment)  # noqa: S606 - the command is what was asked for


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/arm64",
        usage="tools/arm64 [--cpu CORE] COMMAND [ARGUMENT...]",
        description="Run a command as on a Raspberry Pi: Debian's arm64 Python and the real aarch64 wheels, emulated.",
        epilog=f"Emulated are {', '.join(COMMANDS)}; how long they take says nothing about a board.",
    )
    parser.add_argument("--cpu", choices=BOARDS, default=DEFAULT_CPU, help=f"default: {DEFAULT_CPU} (Raspberry Pi 4)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    options = parser.parse_args()
    if not options.command:
        parser.error("no command")
    return options


def ensure_emulator() -> str:
    """The path of qemu's user-mode emulator.

    Raises:
        CannotEmulate: There is none, or this machine needs none.
    """
    if platform.machine() == "aarch64":
        raise CannotEmulate("this machine is an arm64 one: run the command itself")
    return ensure_program(EMULATORS, EMULATOR_PACKAGE)


def emulated_environment(environment: Mapping[str, str], commands: Path) -> dict[str, str]:
    """This environment, with the emulated commands first and nothing of the host's Python."""
    kept = {name: value for name, value in environment.items() if name not in OF_THE_HOST}
    return kept | {"PATH": os.pathsep.join((str(commands), environment.get("PATH", os.defpath)))}


if __name__ == "__main__":
    main()
