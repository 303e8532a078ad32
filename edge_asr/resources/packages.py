"""The software that a figure or a file came from: versions of packages and of the interpreter."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from edge_asr import __version__


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Of this package, the interpreter, and those of the packages that are installed."""
    found = {"edge-asr": __version__, "python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
