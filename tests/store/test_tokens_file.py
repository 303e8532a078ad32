from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.errors import ModelDamaged
from edge_asr.store.tokens_file import blank_id, read_tokens


def tokens(folder: Path, data: bytes) -> list[str]:
    path = folder / "tokens.txt"
    path.write_bytes(data)
    return read_tokens(path)


@pytest.mark.parametrize(
    ("data", "symbols"),
    [
        (b"<blk> 0\na 1\nb 2\n", ["<blk>", "a", "b"]),
        (b"b 1\n<blk> 0", ["<blk>", "b"]),
        (b"<blk> 0\r\na 1\r\n", ["<blk>", "a"]),
        (b"\xef\xbb\xbf<blk> 0\na 1\n", ["\ufeff<blk>", "a"]),
        (b"<blk> 0\na 1\na 1\n", ["<blk>", "a"]),
        (b"<blk> 0\n\na 1\n\n", ["<blk>", "a"]),
        ("<blk> 0\n\u3000 1\n\u00a0\t2\n".encode(), ["<blk>", "\u3000", "\u00a0"]),
        (b"<blk> 0\n 1\n", ["<blk>", " "]),
        (b"<blk> 0\n1\n", ["<blk>", " "]),
        (b"<blk>\t0\na   1\n", ["<blk>", "a"]),
        ("<blk> 0\n\u2581 1\n\u2028 2\n".encode(), ["<blk>", "\u2581", "\u2028"]),
        (b"a 0\na 1\n", ["a", "a"]),
    ],
)
def test_what_the_engine_reads_is_read(tmp_path: Path, data: bytes, symbols: list[str]) -> None:
    assert tokens(tmp_path, data) == symbols


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no tokens"),
        (b"<blk> 0\na b 1\n", "line 2 has 3 fields"),
        (b"<blk>\na\n", "line 1 has no id"),
        (b"<blk> zero\n", "line 1 has no id"),
        (b"<blk> 0\na 2\n", "should have the ids 0 to 1, but 1 is missing"),
        (b"<blk> 0\na 0\n", "gives the id 0 to two tokens"),
        (b"<blk> 0\na " + b"9" * 5000, "line 2 has no id"),
        ("<blk> 0\na \u00b2\n".encode(), "line 2 has no id"),
        (b"<blk> 0\na -1\n", "line 2 has no id"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git-LFS pointer"),
        (bytes(range(128, 256)), "not text"),
    ],
)
def test_what_would_end_or_fail_the_engine_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ModelDamaged, match=reason):
        tokens(tmp_path, data)


def test_the_blank_is_found_by_its_names() -> None:
    assert (blank_id(["<blk>", "a"]), blank_id(["a", "<blank>"]), blank_id(["<eps>"]), blank_id(["a"])) == (
        0,
        1,
        0,
        None,
    )
