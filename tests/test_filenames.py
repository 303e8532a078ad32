"""Names that are no text, and back."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from edge_asr.filenames import from_text, readable, to_text


@given(st.binary().filter(lambda name: b"\0" not in name))
def test_any_name_can_be_encoded_and_comes_back(name: bytes) -> None:
    text = to_text(os.fsdecode(name))

    text.encode()
    assert os.fsencode(from_text(text)) == name


def test_a_name_that_is_text_stays_as_it_is() -> None:
    assert to_text("überfluß %41.wav") == "überfluß %41.wav"


def test_people_read_bytes_that_are_no_text() -> None:
    assert readable("a\udcff.wav") == r"a\xff.wav"
