"""Which version a commit is: that of its tag, or a development version counted from the last one."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

TAG = "v[0-9]*"

_DESCRIBED = re.compile(r"(?:v(?P<last>.+)-)?(?P<distance>\d+)-g(?P<hash>[0-9a-f]+)")
_VERSION_LINE = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Described:
    """A commit among the tags."""

    last: Version | None
    """Of the newest tag before or at it; ``None`` where nothing was ever released."""
    distance: int
    """Commits since; 0 at the tag itself."""
    hash: str

    def version(self, planned: Version) -> Version:
        """The commit's version.

        Args:
            planned: The one that the sources name, which comes next.
        """
        if self.last is not None and self.distance == 0:
            return self.last
        following = planned if self.last is None or planned > self.last else _after(self.last)
        return Version(f"{following.base_version}.dev{self.distance}+g{self.hash}")


def describe(checkout: Path) -> Described:
    """Ask git about the commit that is checked out."""
    command = ["git", "-C", str(checkout), "describe", "--tags", "--long", "--match", TAG]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode == 0:
        return parse(ran.stdout.strip())
    distance = git(checkout, "rev-list", "--count", "HEAD")
    return parse(f"{distance}-g{git(checkout, 'rev-parse', '--short', 'HEAD')}")


def parse(described: str) -> Described:
    """Read ``v0.1.0-12-g1a2b3c4``, or ``12-g1a2b3c4`` where there is no tag.

    Raises:
        ValueError: It is neither, or the tag is no version.
    """
    match = _DESCRIBED.fullmatch(described)
    if match is None:
        raise ValueError(f"{described!r} is not what git describe prints")
    last = Version(match["last"]) if match["last"] else None
    return Described(last, int(match["distance"]), match["hash"])


def named_in(source: str) -> Version:
    """The version that ``edge_asr/__init__.py`` names.

    Raises:
        ValueError: It names none.
    """
    match = _VERSION_LINE.search(source)
    if match is None:
        raise ValueError("edge_asr/__init__.py names no __version__")
    return Version(match[1])


def with_version(source: str, version: Version) -> str:
    """That file, naming another version."""
    return _VERSION_LINE.sub(f'__version__ = "{version}"', source)


def git(checkout: Path, *words: str) -> str:
    """What git prints."""
    command = ["git", "-C", str(checkout), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _after(version: Version) -> Version:
    major, minor, micro = version.major, version.minor, version.micro
    return Version(f"{major}.{minor}.{micro + 1}")
