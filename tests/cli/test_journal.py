"""Telling the journal from other places where standard error may lead; the descriptors are real."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from edge_asr.cli.journal import is_journal


def stream(path: Path) -> dict[str, str]:
    found = path.stat()
    return {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}


def test_only_the_journals_own_stream_is_the_journal(tmp_path: Path) -> None:
    journal, other = tmp_path / "journal", tmp_path / "other"
    for path in (journal, other):
        path.touch()
    with journal.open("w") as there, other.open("w") as elsewhere:
        assert is_journal(stream(journal), there.fileno())
        assert not is_journal(stream(journal), elsewhere.fileno())
        assert not is_journal({}, there.fileno())
        assert not is_journal({"JOURNAL_STREAM": "x:y"}, there.fileno())
        assert not is_journal(stream(journal), -1)


def test_a_program_under_the_journal_says_the_level_of_each_line(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    script = "import logging; from edge_asr.cli.main import _log_to_stderr; _log_to_stderr(); "
    script += "logging.getLogger('edge_asr.x').warning('two\\nlines'); logging.getLogger('edge_asr.x').error('grave')"
    with journal.open("w") as file:
        subprocess.run([sys.executable, "-c", script], stderr=file, env=os.environ | stream(journal), check=True)
    assert journal.read_text() == "<4>two\n<4>lines\n<3>grave\n"
