from __future__ import annotations

import pytest

from edge_asr.commands.files import MOST_HOTWORD_BYTES, read_command_files, read_hotword_file
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


def test_a_list_of_hotwords_is_read_without_its_byte_order_mark(tmp_path):
    (tmp_path / "names.txt").write_text("kitchen", encoding="utf-8-sig")
    assert list(read_hotword_file(tmp_path / "names.txt").values()) == ["kitchen"]


def test_a_list_of_hotwords_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match=r"gone\.txt cannot be read: No such file"):
        read_hotword_file(tmp_path / "gone.txt")
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        read_hotword_file(tmp_path)
    (tmp_path / "large.txt").write_bytes(bytes(MOST_HOTWORD_BYTES + 1))
    with pytest.raises(ConfigurationError, match=r"large\.txt have 1048577 bytes; at most 1048576 are read"):
        read_hotword_file(tmp_path / "large.txt")
