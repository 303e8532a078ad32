"""Wheels made by hand."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path


def write_wheel(
    folder: Path, name: str, requires: Sequence[str] = (), version: str = "1.0", extras: Sequence[str] = ()
) -> Path:
    """A wheel with one module."""
    module = name.replace("-", "_")
    path = folder / f"{module}-{version}-py3-none-any.whl"
    distinfo = f"{module}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{module}.py", f"NAME = {name!r}\n")
        wheel.writestr(f"{distinfo}/METADATA", "\n".join(lines) + "\n\n")
        wheel.writestr(f"{distinfo}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{distinfo}/RECORD", "")
    return path
