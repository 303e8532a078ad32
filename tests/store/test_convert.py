from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.errors import ModelDamaged
from edge_asr.store.convert import moonshine_tokens


def prefixed(token: bytes) -> bytes:
    low, high = len(token) % 128, len(token) // 128
    return (bytes([low + 128, high]) if high else bytes([low])) + token


@given(st.lists(st.binary(max_size=400), max_size=20))
def test_every_token_comes_out_with_its_number(tokens: list[bytes]) -> None:
    lines = moonshine_tokens(b"".join(map(prefixed, tokens))).splitlines()
    assert [line.rpartition(" ") for line in lines] == [
        (base64.b64encode(token).decode(), " ", str(index)) for index, token in enumerate(tokens)
    ]


def test_a_file_that_ends_inside_a_token_is_refused() -> None:
    with pytest.raises(ModelDamaged, match="ends inside a token"):
        moonshine_tokens(b"\x05abc")
