from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_asr.pipeline.stability import AgreementStability, AppendOnlyStability


def settled(stability: AgreementStability | AppendOnlyStability, texts: list[str]) -> list[str]:
    return [text[: stability.settle(text)] for text in texts]


def test_an_appending_engine_settles_all_but_the_last_word() -> None:
    assert settled(AppendOnlyStability(), ["", "turn", "turn on", "turn on the"]) == ["", "", "turn", "turn on"]


def test_characters_without_spaces_settle_at_once() -> None:
    assert settled(AppendOnlyStability(), ["打开灯"]) == ["打开灯"]


def test_three_hypotheses_must_agree() -> None:
    texts = ["go for", "go forward ten", "go forward ten meters", "go forward ten meters"]
    assert settled(AgreementStability(), texts) == ["", "", "go", "go forward"]


def test_settled_text_is_withdrawn_when_the_engine_goes_back_on_it() -> None:
    texts = ["a b c", "a b c", "a b c", "a x c"]
    assert settled(AgreementStability(), texts) == ["", "", "a b", "a"]


def test_a_new_segment_begins_with_nothing_settled() -> None:
    stability = AgreementStability()
    settled(stability, ["a b c"] * 3)
    stability.reset()
    assert settled(stability, ["a b c"]) == [""]


@given(st.lists(st.text("ab ", max_size=8), max_size=12))
def test_the_settled_part_is_always_a_prefix_of_the_text(texts: list[str]) -> None:
    stability = AgreementStability()
    for text in texts:
        assert 0 <= stability.settle(text) <= len(text)


@given(st.lists(st.sampled_from(["go", "on", "ten", "灯"]), max_size=8))
def test_with_an_engine_that_only_appends_settled_text_never_shrinks(words: list[str]) -> None:
    stability = AgreementStability()
    lengths = [stability.settle(" ".join(words[:count])) for count in range(len(words) + 1)]
    assert lengths == sorted(lengths)
