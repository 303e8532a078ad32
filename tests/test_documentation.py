"""The documentation as a site, the man pages, and completion in the shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from edge_asr.cli.main import COMMANDS
from tools.command_pages import FILES, VARIABLES, command_reference, commands, man_page, write_man_pages

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocstrings", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def text_of(page: Path) -> str:
    return re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))


def test_every_page_is_there_and_every_link_leads_somewhere(site) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.parent.relative_to(site) for path in site.rglob("index.html")} - {Path()}
    assert {page.parent if page.name == "index" else page for page in pages} - {Path()} == built


def test_the_reference_has_the_docstrings(site) -> None:
    text = text_of(site / "api" / "index.html")
    assert "One word of a final." in text
    assert "Root of the tree; never raised itself." in text


def test_the_reference_has_every_command(site) -> None:
    text = text_of(site / "command-line" / "index.html")
    assert all(f"edge-asr {name}" in text for name in COMMANDS)


def test_nothing_is_fetched_from_elsewhere(site) -> None:
    fetched = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"')
    found = {address for page in site.rglob("*.html") for address in fetched.findall(page.read_text(encoding="utf-8"))}
    assert found == set()


def test_commands_and_their_subcommands_are_all_written_down() -> None:
    paths = [context.command_path for context in commands()]
    assert [path.removeprefix("edge-asr ") for path in paths if path.count(" ") == 1] == list(COMMANDS)
    assert {"edge-asr", "edge-asr models activate", "edge-asr config show"} <= set(paths)
    assert "### edge-asr models activate\n" in command_reference()


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_man_pages_are_set_without_a_warning() -> None:
    for context in commands():
        page = man_page(context)
        ran = subprocess.run(
            ["groff", "-Kutf8", "-man", "-ww", "-Tutf8", "-z"],
            input=page,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        assert (ran.returncode, ran.stderr) == (0, ""), context.command_path


def test_a_man_page_has_the_options_the_example_and_the_exit_codes() -> None:
    (page,) = [man_page(context) for context in commands() if context.command_path == "edge-asr models activate"]
    assert ".TH EDGE\\-ASR\\-MODELS\\-ACTIVATE 1" in page
    assert "\\-\\-max\\-wer" in page
    assert ".nf\nExample:\n  edge\\-asr models activate moonshine\\-tiny\\-en\n" in page
    assert ".TP\n.B 6\nA gate said no" in page


@pytest.mark.parametrize(
    ("words", "expected"),
    [("edge-asr ba", "batch"), ("edge-asr models act", "activate"), ("edge-asr batch --ch", "--channel")],
)
def test_words_are_completed_in_the_shell(words, expected) -> None:
    variables = {"_EDGE_ASR_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ran = subprocess.run(
        [sys.executable, "-c", "from edge_asr.cli.main import main; main()"],
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.split() == [f"plain,{expected}"], ran.stderr


def test_each_command_has_a_page_and_the_programs_own_names_files_and_variables(tmp_path) -> None:
    write_man_pages(tmp_path / "man")
    pages = {path.stem for path in (tmp_path / "man").iterdir()}
    assert pages == {context.command_path.replace(" ", "-") for context in commands()}
    text = (tmp_path / "man/edge-asr.1").read_text().replace("\\-", "-")
    assert [name for name, _ in (*FILES, *VARIABLES) if name not in text] == []
