"""A package or bundle in a fresh system: installed for real, used as its users will, and removed without a trace."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.arm64_sysroot import CHECKOUT
from tools.debian_root import DebianRoot, Failed
from tools.service_sandbox import serve_and_ask

CLIPS = CHECKOUT / "edge_asr/clips"
CLIP = "/mnt/go-forward.flac"
WORDS = "go forward ten meters"
"""What is said in it."""

UNITS = ("usr/lib/systemd/system", "lib/systemd/system")
USER = "edge-asr"
WITH_CLIPS = ("--ro-bind", str(CLIPS), "/mnt")
READ_ONLY = ("--remount-ro", "/", "--tmpfs", "/tmp")  # noqa: S108 - the sandbox's own
OF_APT = ("var/log", "var/lib/dpkg", "var/lib/apt", "var/cache/apt", "var/cache/debconf")
"""Where the names of packages stay that were removed."""


def try_package(root: DebianRoot, package: Path) -> None:
    """Install, use, purge.

    Raises:
        Failed: Something is not as its users may expect.
    """
    shutil.copy(package, root.folder / "srv")
    apt = ("apt-get", "-qq", "-o=APT::Sandbox::User=root", "-o=Dpkg::Use-Pty=0")
    root.run(*apt, "update", has_network=True)
    # Without what it recommends: a board without a microphone must do.
    install = (*apt, "install", "--yes", "--no-install-recommends", f"/srv/{package.name}")
    root.run(*install, has_network=True, environment={"DEBIAN_FRONTEND": "noninteractive"})
    (root.folder / "srv" / package.name).unlink()
    use(root, "edge-asr")
    unit = next(path for place in UNITS if (path := root.folder / place / "edge-asr.service").is_file())
    require_words(serve_and_ask(root, unit, USER, ["edge-asr", "client", "http://127.0.0.1:8765", CLIP], CLIPS))
    say(root, "serve under its unit's restrictions, and a client: the right words")
    root.run("dpkg", "--purge", "edge-asr")
    if left := sorted(leftovers(root.folder)):
        raise Failed(f"purging leaves {', '.join(left)}")
    say(root, "purged without a trace")


def try_bundle(root: DebianRoot, archive: Path) -> None:
    """Unpack and install, without a network; use what is installed.

    Raises:
        Failed: Something is not as its users may expect.
    """
    seen = ("--tmpfs", "/tmp", "--ro-bind", str(archive), "/tmp/bundle.tar")  # noqa: S108 - the sandbox's own
    root.run("tar", "--extract", "--file=/tmp/bundle.tar", "--directory=/srv", options=seen)
    root.run("/srv/edge-asr-bundle/install")
    shutil.rmtree(root.folder / "srv/edge-asr-bundle")
    use(root, "edge-asr")


def use(root: DebianRoot, program: str) -> None:
    """``doctor`` finds no error, and ``transcribe`` hears the right words: read-only, without a network and a home.

    Raises:
        Failed: It is not so.
    """
    root.run(program, "doctor", options=READ_ONLY)
    say(root, "doctor finds no error")
    heard = root.run(program, "transcribe", "--model", "starter-en", CLIP, options=[*READ_ONLY, *WITH_CLIPS])
    require_words(heard)
    say(root, "transcribe, read-only, without a network and a home: the right words")


def require_words(heard: str) -> None:
    """What was heard is what is said in the recording.

    Raises:
        Failed: Something else was heard.
    """
    words = " ".join(re.findall(r"[a-z']+", heard.lower()))
    if WORDS not in words:
        raise Failed(f"heard {heard.strip()!r} instead of {WORDS!r}")


def leftovers(folder: Path) -> Iterator[str]:
    """What still bears the package's name in a system: files, the user, the group."""
    skipped = tuple(str(folder / place) for place in OF_APT)
    for path in folder.rglob("*edge-asr*"):
        if not str(path).startswith(skipped):
            yield path.relative_to(folder).as_posix()
    for name in ("etc/passwd", "etc/group", "etc/shadow", "etc/gshadow"):
        if (folder / name).is_file() and re.search(rf"\b{USER}\b", (folder / name).read_text()):
            yield f"a line in {name}"


def say(root: DebianRoot, sentence: str) -> None:
    """Progress, with the system it is about."""
    print(f"{root.folder.name}: {sentence}", file=sys.stderr, flush=True)
