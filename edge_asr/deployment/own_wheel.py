"""edge-asr's own wheel: built from a checkout, or made again from the files of an installation.

An installed wheel is its files and a list of them, so that a machine which was given edge-asr without a package index
can pass it on without one.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from pathlib import Path

from edge_asr.deployment.pip import run_pip
from edge_asr.errors import MachineError

NAME = "edge-asr"

_OF_THE_INSTALLER = frozenset(("RECORD", "INSTALLER", "REQUESTED", "direct_url.json"))
"""Files of the ``.dist-info`` that whoever installs it writes anew."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time that a zip can hold: the same files make the same wheel."""


def own_wheel(folder: Path) -> Path:
    """Put the wheel of the package that runs into ``folder``; its path.

    Raises:
        FetchFailed: It was to be built, and what builds it cannot be had.
        MachineError: This is neither a checkout nor an installation.
    """
    checkout = Path(__file__).resolve().parent.parent.parent
    if (checkout / "pyproject.toml").is_file():
        run_pip(f"{NAME} from {checkout}", "wheel", "--no-deps", "--wheel-dir", str(folder), str(checkout))
        return next(folder.glob("edge_asr-*.whl"))
    try:
        return repack(distribution(NAME), folder)
    except PackageNotFoundError as error:
        raise MachineError("edge-asr is not installed as a package here; name its wheel with --wheel") from error


def repack(installed: Distribution, folder: Path) -> Path:
    """Make the wheel of an installed pure Python package again.

    Args:
        installed: Whose files are taken.
        folder: Where the wheel goes.

    Returns:
        Its path.
    """
    files = {file.as_posix(): file for file in installed.files or () if _is_of_the_wheel(file)}
    distinfo = next(name.partition("/")[0] for name in files if ".dist-info/" in name)
    path = folder / f"{distinfo.removesuffix('.dist-info')}-py3-none-any.whl"
    records: list[tuple[str, str, str]] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in sorted(files):
            content = files[name].read_binary()
            _add(wheel, name, content)
            records.append((name, _digest(content), str(len(content))))
        _add(wheel, f"{distinfo}/RECORD", _record(records, distinfo))
    return path


def _is_of_the_wheel(file: PackagePath) -> bool:
    if file.parts[0] == ".." or "__pycache__" in file.parts:
        return False
    return not (file.parts[0].endswith(".dist-info") and file.name in _OF_THE_INSTALLER)


def _add(wheel: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    wheel.writestr(entry, content)


def _digest(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _record(records: list[tuple[str, str, str]], distinfo: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*records, (f"{distinfo}/RECORD", "", "")])
    return text.getvalue().encode()
