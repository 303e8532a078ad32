from __future__ import annotations

import pytest

from edge_asr.commands.files import read_command_files
from edge_asr.errors import ConfigurationError


def test_a_file_is_read(tmp_path):
    file = tmp_path / "lights.yaml"
    file.write_text("intents: {}", encoding="utf-8")
    assert read_command_files(file) == {str(file): "intents: {}"}


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    for name in ("b.yaml", "a.json", "c.yml", "notes.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert list(read_command_files(tmp_path).values()) == ["a.json", "b.yaml", "c.yml"]


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match=r"latin\.yaml are not text"):
        read_command_files(tmp_path / "latin.yaml")
    with pytest.raises(ConfigurationError, match=r"gone\.yaml cannot be read: No such file"):
        read_command_files(tmp_path / "gone.yaml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match="has no sentence templates"):
        read_command_files(tmp_path / "empty")
