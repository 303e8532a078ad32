"""Append-only text: pieces whose concatenation is the transcript."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_asr.events import Final, Partial
from edge_asr.protocols.append_only import AppendOnlyText
from tests.support.values import final, partial


def test_only_the_settled_part_of_a_partial_is_given_out() -> None:
    text = AppendOnlyText()
    assert text.take(partial("go four", 3)) == "go "
    assert text.take(partial("go forward", 10)) == "forward"
    assert text.take(partial("go forward", 10)) == ""


def test_a_new_segment_begins_with_a_space() -> None:
    text = AppendOnlyText()
    text.take(final("go forward"))
    assert text.take(partial("stop", 4, segment=1)) == " stop"


def test_a_final_gives_out_what_was_not_settled_before() -> None:
    text = AppendOnlyText()
    text.take(partial("go f", 3))
    assert text.take(final("go forward")) == "forward"
    assert text.text == "go forward"


def test_a_broken_promise_gives_out_nothing_and_keeps_the_final() -> None:
    text = AppendOnlyText()
    text.take(partial("go for", 6))
    assert text.take(final("no more")) == ""
    assert text.text == "no more"


def test_the_whole_is_never_less_than_was_given_out() -> None:
    text = AppendOnlyText()
    text.take(partial("go forward", 10))
    text.take(final("go"))
    assert (text.text, text.whole) == ("go", "go forward")


@st.composite
def sessions(draw: st.DrawFn) -> list[Partial | Final]:
    """Events of engines that keep the promise: every stable prefix is a prefix of the segment's final."""
    events: list[Partial | Final] = []
    for segment, text in enumerate(draw(st.lists(st.text("ab 你好", max_size=8).map(str.strip), max_size=4))):
        settled = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
        events += [
            partial(text[:stable] + draw(st.text("xy", max_size=3)), stable, segment=segment) for stable in settled
        ]
        events.append(final(text, segment=segment))
    return events


@given(sessions())
def test_the_pieces_concatenate_to_the_transcript(events: list[Partial | Final]) -> None:
    text = AppendOnlyText()
    assert "".join([text.take(event) for event in events]) == text.text
