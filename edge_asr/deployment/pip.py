"""This machine's pip, with whatever index, mirror or credentials it is configured for."""

from __future__ import annotations

import subprocess
import sys

from edge_asr.errors import FetchFailed, LibraryMissing

_QUIET = ("--disable-pip-version-check", "--no-input", "--quiet")


def run_pip(what: str, command: str, *arguments: str) -> None:
    """Run a command of pip.

    Args:
        what: Is being fetched, for the error.
        command: Such as ``download``.
        arguments: After pip's own options.

    Raises:
        FetchFailed: It failed; with the last thing that pip complained about.
        LibraryMissing: There is no pip.
    """
    words = [sys.executable, "-m", "pip", command, *_QUIET, *arguments]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if "No module named pip" in ran.stderr:
        raise LibraryMissing("pip", f"run `{sys.executable} -m ensurepip`, or do this where edge-asr came by pip")
    if ran.returncode != 0:
        raise FetchFailed(what, last_complaint(ran.stderr))


def last_complaint(stderr: str) -> str:
    """The reason among the lines that pip wrote."""
    lines = [line.removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR: ")]
    return lines[-1] if lines else "pip gave no reason"
