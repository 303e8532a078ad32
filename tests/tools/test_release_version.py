from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from packaging.version import Version

from tools.release_version import describe, named_in, parse, with_version

SOURCE = '"""Doc."""\n\n__version__ = "0.3.0"\n'


@pytest.mark.parametrize(
    ("described", "planned", "expected"),
    [
        ("v0.1.0-0-g1a2b3c4", "0.1.0", "0.1.0"),  # the tag itself, whatever the sources name
        ("v0.2.0rc1-0-g1a2b3c4", "0.2.0", "0.2.0rc1"),
        ("v0.1.0-7-g1a2b3c4", "0.2.0", "0.2.0.dev7+g1a2b3c4"),
        ("v0.1.0-7-g1a2b3c4", "0.1.0", "0.1.1.dev7+g1a2b3c4"),  # nobody has named the next one yet
        ("412-g1a2b3c4", "0.1.0", "0.1.0.dev412+g1a2b3c4"),  # nothing was ever released
    ],
)
def test_a_commit_s_version_comes_from_its_tags(described: str, planned: str, expected: str) -> None:
    assert str(parse(described).version(Version(planned))) == expected


def test_versions_grow_from_commit_to_commit_and_to_the_release() -> None:
    planned = Version("0.2.0")
    described = ["v0.1.0-0-ga", "v0.1.0-1-gb", "v0.1.0-2-ga", "v0.2.0-0-gb"]
    versions = [parse(one).version(planned) for one in described]
    assert versions == sorted(versions)


def test_a_tag_that_is_no_version_is_refused() -> None:
    with pytest.raises(ValueError, match="vanilla"):
        parse("vanilla")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "tag.gpgsign=false", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, stdout=subprocess.DEVNULL)


def test_git_is_asked_with_and_without_a_tag(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "one")
    untagged = describe(tmp_path)
    assert (untagged.last, untagged.distance) == (None, 1)
    git(tmp_path, "tag", "-a", "v1.2.3", "-m", "release")
    git(tmp_path, "tag", "-a", "nightly", "-m", "not a version")
    tagged = describe(tmp_path)
    assert (tagged.last, tagged.distance) == (Version("1.2.3"), 0)


def test_the_sources_name_one_version_that_can_be_replaced() -> None:
    assert named_in(SOURCE) == Version("0.3.0")
    assert with_version(SOURCE, Version("1.0")) == '"""Doc."""\n\n__version__ = "1.0"\n'
    with pytest.raises(ValueError, match="__version__"):
        named_in("")
