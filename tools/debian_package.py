"""The Debian package: its source tree, built by dpkg-buildpackage in a root of its release, and held to lintian."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from email.utils import format_datetime
from pathlib import Path

from packaging.version import Version

from edge_asr.deployment.target import Machine, Release, Target, debian_target
from edge_asr.deployment.wheelhouse import fill_wheelhouse
from tools.arm64_sysroot import CHECKOUT
from tools.command_pages import write_man_pages
from tools.debian_root import ARCHITECTURES, DebianRoot
from tools.release_version import git

BUILD_PACKAGES = ("debhelper", "lintian", "python3", "python3-pip")
"""What a root needs to build it: no compiler."""

MAINTAINER = "The edge-asr developers <packages@edge-asr.invalid>"
OF_THE_CHECKOUT = ("CHANGELOG.md", "NOTICE", "README.md")


def lay_out(folder: Path, wheel: Path, release: Release, machine: Machine) -> None:
    """The source tree: Debian's files, the units, man pages, and every wheel for that release and machine.

    Raises:
        FetchFailed: A wheel cannot be had.
    """
    target = debian_target(release, machine)
    shutil.copytree(CHECKOUT / "packaging/debian", folder / "debian")
    shutil.copytree(CHECKOUT / "packaging/systemd", folder / "systemd")
    write_man_pages(folder / "man")
    for name in OF_THE_CHECKOUT:
        shutil.copy(CHECKOUT / name, folder)
    (folder / "target.mk").write_text(target_makefile(target))
    (folder / "debian/changelog").write_text(debian_changelog(version_of(wheel), release, commit_time()))
    (folder / "wheels").mkdir()
    fill_wheelhouse(folder / "wheels", wheel, target)


def build(root: DebianRoot, tree: Path, machine: Machine, *, is_trial: bool = False) -> Path:
    """Build the package in a root of its release; the path of the ``.deb``.

    Args:
        root: With ``BUILD_PACKAGES`` in it.
        tree: As it was laid out; the package comes to lie beside it.
        machine: Whose wheels are in the tree.
        is_trial: Whether to compress it quickly rather than well.

    Raises:
        Failed: It cannot be built, or lintian objects.
    """
    inside = "/build/edge-asr"
    place = ["--bind", str(tree.parent), "/build", "--chdir", inside]
    architecture = ARCHITECTURES[machine]
    # Every package is presumed to need a compiler, which is most of what would have to be installed here.
    command = ["dpkg-buildpackage", "--no-check-builddeps", "--build=binary", "--no-sign"]
    command += [f"--host-arch={architecture}"]
    root.run(
        *command, options=place, environment=_build_environment(is_cross=machine != root.machine, is_trial=is_trial)
    )
    (package,) = tree.parent.glob(f"edge-asr_*_{architecture}.deb")
    check = ["lintian", "--allow-root", "--fail-on=error,warning", "--info", f"/build/{package.name}"]
    root.run(*check, options=place)
    return package


def _build_environment(*, is_cross: bool, is_trial: bool) -> dict[str, str]:
    profiles = {"DEB_BUILD_PROFILES": "cross nocheck", "DEB_BUILD_OPTIONS": "nocheck"} if is_cross else {}
    return profiles | ({"DPKG_DEB_COMPRESSOR_LEVEL": "1"} if is_trial else {})


def target_makefile(target: Target) -> str:
    """What ``debian/rules`` includes."""
    major, minor = target.python.split(".")
    return (
        f"PYTHON := {target.python}\n"
        f"NEXT_PYTHON := {major}.{int(minor) + 1}\n"
        f"PIP_OPTIONS := {' '.join(target.pip_options())}\n"
    )


def debian_changelog(version: str, release: Release, time: dt.datetime) -> str:
    """The one entry that dpkg reads the version from.

    Args:
        version: Of edge-asr.
        release: Part of the package's version, so that a machine that moves on to the next one gets that one's package.
        time: Of the change; with a time zone.
    """
    return (
        f"edge-asr ({debian_version(version)}-1~{release}1) {release}; urgency=medium\n\n"
        "  * See changelog.gz for what changed.\n\n"
        f" -- {MAINTAINER}  {format_datetime(time)}\n"
    )


def debian_version(version: str) -> str:
    """A Python version as dpkg sorts it: what comes before a release is older than it by a tilde."""
    parsed = Version(version)
    before = f"~{parsed.pre[0]}{parsed.pre[1]}" if parsed.pre else ""
    before += f"~dev{parsed.dev}" if parsed.dev is not None else ""
    local = f"+{parsed.local}" if parsed.local else ""
    return f"{parsed.base_version}{before}{local}"


def version_of(wheel: Path) -> str:
    """The version in a wheel's name."""
    return wheel.name.split("-")[1]


def commit_time() -> dt.datetime:
    """When the sources were last changed: the same sources make the same package."""
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return dt.datetime.fromtimestamp(int(epoch), dt.UTC)
    return dt.datetime.fromtimestamp(int(git(CHECKOUT, "log", "-1", "--format=%ct")), dt.UTC)
