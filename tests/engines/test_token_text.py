from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.engines.token_text import TokenText
from edge_asr.errors import EngineFailed


def test_pieces_are_joined_and_their_mark_is_a_space(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("<blk> 0\n▁GO 1\n▁FOR 2\nWARD 3\n", encoding="utf-8")
    assert TokenText.read(tokens).text([1, 2, 3]) == " GO FORWARD"


def test_bytes_become_a_character_once_it_is_whole() -> None:
    text = TokenText({1: "<0xE4>", 2: "<0xBD>", 3: "<0xA0>"})
    assert text.text([1, 2]) == ""
    assert text.text([1, 2, 3]) == "你"


def test_a_line_with_an_id_alone_is_a_space(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("а 0\n 1\n", encoding="utf-8")
    assert TokenText.read(tokens).text([0, 1, 0]) == "а а"


def test_the_unknown_token_is_found() -> None:
    assert TokenText({0: "<blk>", 2: "<unk>"}).unknown == 2
    assert TokenText({0: "<blk>"}).unknown is None


def test_a_token_that_the_table_lacks_is_named() -> None:
    with pytest.raises(EngineFailed, match="token 9"):
        TokenText({0: "<blk>"}).text([9])
