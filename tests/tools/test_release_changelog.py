from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.version import Version

from tools.release_changelog import notes_for, sections

CHANGELOG = """\
# Changelog

Words.

## Unreleased

## 0.2.0 - 2026-12-01

### Added

- Something.

## [0.1.0] - 2026-11-01

### Removed

- Everything.
"""

RELEASE = Version("0.2.0")
DEVELOPMENT = Version("0.3.0.dev4+g1a2b3c4")


def test_sections_are_found_with_their_dates() -> None:
    found = [(section.name, section.date) for section in sections(CHANGELOG)]
    assert found == [("Unreleased", ""), ("0.2.0", "2026-12-01"), ("0.1.0", "2026-11-01")]


def test_a_release_is_described_by_its_own_section() -> None:
    assert notes_for(CHANGELOG, RELEASE).text == "### Added\n\n- Something."


def test_between_releases_what_is_not_released_is_told() -> None:
    waiting = CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n### Fixed\n\n- A bug.\n")
    assert notes_for(waiting, DEVELOPMENT).text == "### Fixed\n\n- A bug."


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("## 0.2.0 - 2026-12-01", "## 0.2.1 - 2026-12-01", "no section 0.2.0; head it `## 0.2.0 - YYYY-MM-DD`"),
        ("## 0.2.0 - 2026-12-01", "## 0.2.0", "0.2.0: its heading has no date"),
        ("### Added", "### Novelties", "'Novelties' is none of Added"),
        ("- Something.", "Something.", "0.2.0: nothing is said to have changed"),
        ("## Unreleased\n", "## Unreleased\n\n- Late.\n", "Unreleased: not empty; move it below 0.2.0"),
    ],
)
def test_a_release_is_refused(before: str, after: str, complaint: str) -> None:
    assert before in CHANGELOG
    with pytest.raises(ValueError, match=re.escape(complaint)):
        notes_for(CHANGELOG.replace(before, after, 1), RELEASE)


def test_our_own_changelog_describes_the_next_version() -> None:
    own = (Path(__file__).resolve().parents[2] / "CHANGELOG.md").read_text()
    assert [problem for section in sections(own) for problem in section.problems()] == []
