from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from edge_asr.workers.black_box import SIZE_BYTES, BlackBox, BlackBoxWriter

NAMES = st.lists(st.text("0123456789abcdef", min_size=1, max_size=12), unique=True, max_size=20)


@given(st.lists(NAMES, max_size=5))
def test_the_front_reads_what_was_written_last(writes: list[list[str]]) -> None:
    box = BlackBox()
    writer = BlackBoxWriter(os.dup(box.descriptor))
    for names in writes:
        writer.write(names)
    assert box.read() == frozenset(writes[-1] if writes else ())
    box.close()


def test_more_names_than_fit_are_cut_and_do_no_harm() -> None:
    box = BlackBox()
    BlackBoxWriter(os.dup(box.descriptor)).write([f"{number:012d}" for number in range(SIZE_BYTES)])
    assert "000000000000" in box.read()
    box.close()
    box.close()
