"""The changelog as a release wants it: a section for the version, of kinds that users know, with something in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packaging.version import Version

UNRELEASED = "Unreleased"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
"""Of Keep a Changelog 1.1."""

_HEADING = re.compile(r"^## \[?(?P<name>[^\]\s]+)\]?(?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
_KIND = re.compile(r"^### (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """What changed in one version."""

    name: str
    date: str
    """ISO 8601; empty for what is not released."""
    text: str

    def problems(self) -> list[str]:
        """What is wrong with it."""
        kinds = _KIND.findall(self.text)
        found = [f"{self.name}: {kind!r} is none of {', '.join(KINDS)}" for kind in kinds if kind not in KINDS]
        if not re.search(r"^- ", self.text, re.MULTILINE):
            found.append(f"{self.name}: nothing is said to have changed")
        return found


def sections(changelog: str) -> list[Section]:
    """Every version's section, in the order of the file."""
    headings = list(_HEADING.finditer(changelog))
    ends = [heading.start() for heading in headings[1:]] + [len(changelog)]
    return [
        Section(heading["name"], heading["date"] or "", changelog[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=True)
    ]


def notes_for(changelog: str, version: Version) -> Section:
    """The section that a build of this version is described by: its own, or what is not released yet.

    Raises:
        ValueError: With everything that is wrong with the changelog.
    """
    wanted = UNRELEASED if version.is_devrelease else str(version)
    by_name = {section.name: section for section in sections(changelog)}
    if wanted not in by_name:
        raise ValueError(f"CHANGELOG.md has no section {wanted}; head it `## {wanted} - YYYY-MM-DD`")
    section = by_name[wanted]
    problems = section.problems()
    if not version.is_devrelease:
        problems += [] if section.date else [f"{wanted}: its heading has no date"]
        waiting = by_name.get(UNRELEASED)
        problems += [f"{UNRELEASED}: not empty; move it below {wanted}"] if waiting and waiting.text else []
    if problems:
        raise ValueError("CHANGELOG.md: " + "; ".join(problems))
    return section
