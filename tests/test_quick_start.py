"""The quick start of the docs, executed command by command in a fresh home."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "quick-start.md"
SECTIONS = ("Install", "First words", "Will it keep up?")
"""Those that need no download of models, no microphone and no root."""

SEPARATOR = "=== quick start:"


def commands() -> Iterator[str]:
    """The commands of the sections, in order."""
    for section in SECTIONS:
        text = PAGE.read_text(encoding="utf-8").split(f"## {section}\n")[1].split("\n## ")[0]
        for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL):
            yield from (line for line in block.splitlines() if line and not line.startswith("sudo apt-get"))


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what is in the repository."""
    copy = tmp_path / "checkout"
    copy.mkdir()
    for name in ("edge_asr", "models", "packaging", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    return copy


def test_the_page_has_the_sections() -> None:
    assert len(list(commands())) >= 9


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(900)
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_each_command_does_what_the_page_says(checkout: Path, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "home").mkdir()
    script = "\n".join(
        f"echo '{SEPARATOR}'\n{command.replace('8765', str(port))}\necho \"{SEPARATOR} $?\"" for command in commands()
    )
    ours = ("EDGE_ASR_", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "XDG_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"HOME": str(tmp_path / "home"), "EDGE_ASR_SERVER_PORT": str(port)}
    environment |= {"EDGE_ASR_SERVER_WYOMING": "off", "EDGE_ASR_SERVER_ADMIN_SOCKET": "off"}
    ran = subprocess.run(["bash", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True)

    printed = re.findall(rf"{SEPARATOR}\n(.*?){SEPARATOR} (\d+)\n", ran.stdout, flags=re.DOTALL)
    results = dict(zip(commands(), printed, strict=True))
    assert results["edge-asr transcribe -m starter-en edge_asr/clips/go-forward.flac"] == (
        "go forward ten meters\n",
        "0",
    ), ran.stderr
    for command, (output, status) in results.items():
        if "selftest" in command:  # the machine that runs the tests may be busy
            assert output.splitlines()[-1] in ("PASS", "INVALID"), output
        elif "doctor" in command:  # it may have found something
            assert status in ("0", "5"), ran.stderr
        else:
            assert status == "0", f"{command}\n{output}\n{ran.stderr}"
    (heard,) = [output for command, (output, _) in results.items() if command.startswith("edge-asr client")]
    assert heard == "five five\n"
