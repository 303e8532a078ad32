"""A release: the version from the tag, the changelog checked, both archives built twice and equal, an SBOM."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.version import Version

from edge_asr.deployment.target import debian_target
from edge_asr.deployment.wheelhouse import fill_wheelhouse
from edge_asr.errors import EdgeAsrError
from edge_asr.store.digest import sha256_of
from tools.arm64_sysroot import CHECKOUT
from tools.release_changelog import Section, notes_for
from tools.release_sbom import bill_of_materials
from tools.release_version import describe, git, named_in, with_version

VERSION_FILE = "edge_asr/__init__.py"
MAX_WHEEL_BYTES = 12 << 20
"""What fits on a small card, and under the index's limits many times over."""


class NotReleasable(Exception):
    """Something stands in the way; the sentence says what to do."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools/release", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="build and check, keep nothing; needs no tag")
    parser.add_argument("-o", "--output", type=Path, default=CHECKOUT / "dist", help="where the files go")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as work:
            _release(Path(work), options.output, is_dry=options.dry_run)
    except (NotReleasable, ValueError, EdgeAsrError) as error:
        sys.exit(f"tools/release: {error}")


def _release(work: Path, output: Path, *, is_dry: bool) -> None:
    source = (CHECKOUT / VERSION_FILE).read_text()
    version = describe(CHECKOUT).version(named_in(source))
    if version.is_devrelease and not is_dry:
        raise NotReleasable(f"HEAD has no tag; `git tag -s v{named_in(source)}` first, or look with --dry-run")
    if git(CHECKOUT, "status", "--porcelain"):
        raise NotReleasable("there are changes that are not committed")
    notes = notes_for((CHECKOUT / "CHANGELOG.md").read_text(), version)
    time = dt.datetime.fromtimestamp(int(git(CHECKOUT, "log", "-1", "--format=%ct")), dt.UTC)
    files = work / "files"
    _build_twice(work, files, version, time)
    _describe(work, files, version, notes, time)
    _report(files, version, is_dry=is_dry)
    if not is_dry:
        shutil.copytree(files, output, dirs_exist_ok=True)
        print(f"{output} holds them; publish them with the tag v{version}")


def _build_twice(work: Path, files: Path, version: Version, time: dt.datetime) -> None:
    """Build from two fresh copies of the commit, in other folders, time zones and with other rights for new files.

    Raises:
        NotReleasable: The two differ, or cannot be built, or the wheel is too large.
    """
    again = work / "again"
    _build(work / "one", files, version, time, zone="UTC", umask=0o022)
    _build(work / "another/place", again, version, time, zone="Pacific/Auckland", umask=0o077)
    for path in files.iterdir():
        if path.read_bytes() != (again / path.name).read_bytes():
            raise NotReleasable(f"{path.name} came out differently when it was built again")
    wheel = next(files.glob("*.whl"))
    if wheel.stat().st_size > MAX_WHEEL_BYTES:
        raise NotReleasable(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {MAX_WHEEL_BYTES}")


def _build(tree: Path, files: Path, version: Version, time: dt.datetime, *, zone: str, umask: int) -> None:
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(CHECKOUT), "archive", "HEAD"], check=True, stdout=subprocess.PIPE)
    unpack = ["tar", "--extract", "--directory", str(tree), "--no-same-permissions"]
    subprocess.run(unpack, input=archive.stdout, check=True, umask=umask)
    named = tree / VERSION_FILE
    named.write_text(with_version(named.read_text(), version))
    environment = os.environ | {"TZ": zone, "SOURCE_DATE_EPOCH": str(int(time.timestamp()))}
    command = [sys.executable, "-m", "build", "--outdir", str(files), str(tree)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, umask=umask, cwd=tree)
    if ran.returncode != 0:
        raise NotReleasable(f"cannot build:\n{ran.stdout}{ran.stderr}")


def _describe(work: Path, files: Path, version: Version, notes: Section, time: dt.datetime) -> None:
    """Notes, the bill of materials of what a board with an ARM processor gets, and the sums of everything."""
    wheel, house = next(files.glob("*.whl")), work / "house"
    fill_wheelhouse(house, wheel, debian_target("trixie", "aarch64"))
    dependencies = [path for path in house.glob("*.whl") if path.name != wheel.name]
    (files / f"edge_asr-{version}.cdx.json").write_text(bill_of_materials(wheel, dependencies, time) + "\n")
    (files / f"edge_asr-{version}.notes.md").write_text(notes.text + "\n")
    sums = [f"{sha256_of(path)}  {path.name}\n" for path in sorted(files.iterdir())]
    (files / "SHA256SUMS").write_text("".join(sums))


def _report(files: Path, version: Version, *, is_dry: bool) -> None:
    print(f"edge-asr {version}{', which would be released' if is_dry else ''}:")
    for path in sorted(files.iterdir()):
        print(f"  {path.stat().st_size:>9}  {path.name}")
    print("wheel and source archive were built twice, and are equal")


if __name__ == "__main__":
    main()
