"""A folder of wheels from which edge-asr can be installed on another machine without a network."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

from edge_asr.deployment.pip import run_pip
from edge_asr.deployment.target import Target


def fill_wheelhouse(
    folder: Path, own: Path, target: Target, extras: Sequence[str] = (), also: Sequence[str] = ()
) -> None:
    """Collect the wheels of edge-asr's dependencies.

    Args:
        folder: Where they go; wheels that are there already are kept.
        own: edge-asr's own wheel.
        target: Where they will run.
        extras: Of edge-asr, such as ``mqtt``.
        also: Requirements beside.

    Raises:
        FetchFailed: The index lacks a wheel for that machine, or cannot be reached.
        LibraryMissing: There is no pip.
    """
    # The index comes first, and links too where they are configured; --find-links adds the wheels we have.
    common = ["--dest", str(folder), "--find-links", str(folder), *target.pip_options()]
    wanted = f"{own}[{','.join(extras)}]" if extras else str(own)
    while True:
        run_pip(f"wheels for {target.machine}, Python {target.python}", "download", *common, wanted, *also)
        # pip fills in markers for the Python that runs it: what only the target's Python needs has to be asked for.
        forgotten = sorted({*missing_requirements(folder.glob("*.whl"), target)} - {*also})
        if not forgotten:
            return
        also = [*also, *forgotten]


def missing_requirements(wheels: Iterable[Path], target: Target) -> Iterator[str]:
    """What these wheels require on that machine and is not among them."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name, parse_wheel_filename

    paths = list(wheels)
    present = {parse_wheel_filename(path.name)[0] for path in paths}
    environment = target.marker_environment()
    for path in paths:
        for requirement in map(Requirement, requirements_of(path)):
            is_wanted = requirement.marker is None or requirement.marker.evaluate(environment)
            if is_wanted and canonicalize_name(requirement.name) not in present:
                requirement.marker = None
                yield str(requirement)


def requirements_of(wheel: Path) -> list[str]:
    """The ``Requires-Dist`` lines of a wheel."""
    return [str(line) for line in read_metadata(wheel).get_all("Requires-Dist", [])]


def read_metadata(wheel: Path) -> Message:
    """A wheel's ``METADATA``."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(archive.read(name).decode())
