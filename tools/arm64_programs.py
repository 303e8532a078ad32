"""Programs of this machine that emulation needs: found, or installed if we may."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence


class CannotEmulate(Exception):
    """Something is missing on this machine; the sentence says what to do."""


def ensure_program(names: Sequence[str], package: str) -> str:
    """The path of the first of these programs that is here; as root, Debian's package of them is installed first.

    Raises:
        CannotEmulate: There is none and it cannot be installed.
    """
    if found := _first(names):
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise CannotEmulate(f"no {names[0]} here; run: sudo apt install {package}")
    print(f"installing {package}", file=sys.stderr)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "--yes", "--no-install-recommends", package]):
        if subprocess.run(["apt-get", *command], stdout=sys.stderr, env=environment, check=False).returncode:
            raise CannotEmulate(f"`apt-get {' '.join(command)}` failed; it is needed for {names[0]}")
    if found := _first(names):
        return found
    raise CannotEmulate(f"Debian's package {package} brought no {names[0]}")


def _first(names: Sequence[str]) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)
