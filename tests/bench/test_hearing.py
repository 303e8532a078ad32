"""From what was heard when to the figures of an utterance; milliseconds are nanoseconds of a made-up clock."""

import pytest

from edge_asr.bench.hearing import (
    Asked,
    Hearing,
    Look,
    Schedule,
    changes,
    emission_delays_ms,
    utterance_of,
    word_errors,
)
from edge_asr.events import Final, Notice, Partial, SessionEnded
from edge_asr.workload import AlignedWord

MS = 1_000_000
START = 5_000 * MS


def partial(text: str) -> Partial:
    return Partial("s", 0, 0, text, 0, 0.0, 0.0, 0)


def final(text: str, *, reason: str = "end_of_audio", emitted_ms: int = 0, end_s: float = 0.0) -> Final:
    return Final("s", 0, text, (), 0.0, end_s, reason, START + emitted_ms * MS)  # type: ignore[arg-type]


def heard(*events: tuple[int, Partial | Final], released_ms: int = 0) -> Hearing:
    hearing = Hearing()
    for at_ms, event in events:
        hearing.hear(event, START + at_ms * MS, START + released_ms * MS)
    return hearing


def looks(*said: tuple[int, str]) -> list[Look]:
    return [Look(START + at_ms * MS, text) for at_ms, text in said]


def figures(hearing: Hearing, *, reference: str = "", words=(), onset_s=0.0, end_s=1.0, finished_ms: int | None = None):
    asked = Asked("clip", 0, 1.5, reference, "en", words)
    finished_ns = START + finished_ms * MS if finished_ms is not None else 0
    return utterance_of(asked, hearing, Schedule(START, onset_s, end_s, finished_ns))


# What was seen


def test_the_same_text_again_is_no_new_look():
    hearing = heard((100, partial("one")), (200, partial("one")), (300, partial("one two")))
    assert hearing.looks == looks((100, "one"), (300, "one two"))


def test_partials_stand_behind_the_finals():
    hearing = heard((100, final("one")), (200, partial("two")), (300, final("too")))
    assert [look.text for look in hearing.looks] == ["one", "one two", "one too"]
    assert hearing.text == "one too"


def test_other_events_are_not_looked_at():
    hearing = Hearing()
    hearing.hear(Notice("s", "audio_dropped", "", 1), START)
    hearing.hear(SessionEnded("s", 1.0), START)
    assert hearing.looks == []


# Latencies


def test_the_first_partial_counts_from_the_onset():
    assert figures(heard((100, partial("")), (450, partial("one"))), onset_s=0.2).first_partial_ms == 250


def test_there_is_no_first_partial_without_text():
    assert figures(heard()).first_partial_ms is None
    assert figures(heard((900, final("")))).first_partial_ms is None


def test_flush_runs_from_finish_to_the_final():
    assert figures(heard((1560, final("one"))), finished_ms=1500).flush_ms == 60


def test_a_final_before_finish_is_no_flush():
    assert figures(heard((1400, final("one", reason="silence"))), finished_ms=1500).flush_ms is None


def test_final_latency_is_split_into_parts_that_add_up():
    events = (2250, final("one", reason="silence", emitted_ms=2240))
    utterance = figures(heard(events, released_ms=2200), end_s=1.0)
    assert utterance.final_rule_ms == 1200
    assert utterance.final_compute_ms == 40
    assert utterance.final_delivery_ms == 10
    assert utterance.final_ms == 1250


def test_a_final_by_end_of_audio_has_no_final_latency():
    utterance = figures(heard((1560, final("one"))), finished_ms=1500)
    assert (utterance.final_ms, utterance.final_rule_ms, utterance.final_compute_ms) == (None, None, None)


def test_a_final_before_the_end_of_speech_has_no_final_latency():
    assert figures(heard((800, final("one", reason="silence"))), end_s=1.0).final_ms is None


def test_the_last_token_counts_from_the_end_of_speech():
    assert figures(heard((900, partial("one")), (1150, partial("one two"))), end_s=1.0).last_token_ms == 150
    assert figures(heard((900, partial("one"))), end_s=1.0).last_token_ms == -100


# Stability


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], (0, 0)),
        (["one", "one two", "one two three"], (0, 3)),
        (["one", "won", "won two"], (1, 3)),
        (["one two three", "one too three"], (2, 5)),  # what stands behind a changed word moves with it
        (["one two", "one"], (1, 2)),
        (["one", "", "one"], (1, 2)),
    ],
)
def test_words_that_were_taken_back_are_counted(texts, expected):
    assert changes([Look(0, text) for text in texts]) == expected


# Emission delays


def words(*spans: tuple[str, float, float]) -> tuple[AlignedWord, ...]:
    return tuple(AlignedWord(*span) for span in spans)


def delays(aligned, said, language: str = "en") -> list[float]:
    return emission_delays_ms(aligned, said, Schedule(START, 0.0, 1.0), language)


def test_a_word_is_late_from_its_end_to_when_it_stands():
    aligned = words(("one", 0.0, 0.3), ("two", 0.4, 0.7))
    assert delays(aligned, looks((500, "one"), (800, "one two"))) == [200, 100]


def test_a_word_may_be_there_before_it_has_ended():
    assert delays(words(("one", 0.0, 0.5)), looks((400, "one"))) == [-100]


def test_only_the_spelling_that_stays_counts():
    aligned = words(("one", 0.0, 0.3), ("two", 0.4, 0.7))
    said = looks((400, "won"), (800, "one to"), (1000, "one two"))
    assert delays(aligned, said) == [500, 300]


def test_a_word_that_was_taken_away_for_a_while_counts_from_its_return():
    assert delays(words(("one", 0.0, 0.3)), looks((400, "one"), (500, ""), (600, "one"))) == [300]


def test_spelling_and_punctuation_do_not_matter():
    assert delays(words(("One", 0.0, 0.3)), looks((400, "one"), (700, "One."))) == [100]


def test_numbers_are_words_like_any_other():
    assert delays(words(("five", 0.0, 0.3), ("five", 0.4, 0.7)), looks((400, "five"), (800, "five five"))) == [100, 100]


def test_words_that_were_not_recognised_have_no_delay():
    aligned = words(("one", 0.0, 0.3), ("two", 0.4, 0.5), ("three", 0.6, 0.9))
    assert delays(aligned, looks((1000, "one three"))) == [700, 100]


def test_characters_are_words_where_words_are_not_told_apart():
    aligned = words(("开", 0.0, 0.2), ("灯", 0.2, 0.4))
    assert delays(aligned, looks((300, "开"), (500, "开灯")), "zh") == [100, 100]


def test_a_word_of_several_units_counts_once_its_last_stands():
    assert delays(words(("开灯", 0.0, 0.4)), looks((300, "开"), (500, "开灯")), "zh") == [100]
    assert delays(words(("开灯", 0.0, 0.4)), looks((300, "开")), "zh") == []
    assert delays(words(("it's", 0.0, 0.4)), looks((500, "it's"))) == [100]


def test_there_are_no_delays_without_words_or_without_text():
    assert delays((), looks((100, "one"))) == []
    assert delays(words(("one", 0.0, 0.3)), []) == []


# Errors


def test_errors_are_counted_against_the_reference():
    assert word_errors("go forward slowly", "go for slowly please", "en") == (2, 3)


def test_nothing_is_scored_without_a_reference():
    assert word_errors("", "one two", "en") == (0, 0)


def test_characters_are_scored_where_words_are_not_told_apart():
    assert word_errors("打开客厅的灯", "打开客厅灯", "zh") == (1, 6)


def test_an_utterance_says_what_was_played_and_heard():
    utterance = figures(
        heard((500, partial("go")), (1200, final("go away"))),
        reference="go on",
        words=words(("go", 0.0, 0.4), ("on", 0.5, 1.0)),
        finished_ms=1100,
    )
    assert (utterance.clip, utterance.audio_s, utterance.text) == ("clip", 1.5, "go away")
    assert (utterance.errors, utterance.units) == (1, 2)
    assert utterance.emission_ms == (100,)
    assert (utterance.changed_words, utterance.emitted_words) == (0, 2)


def test_an_utterance_counts_the_second_passes_that_were_skipped():
    late = Notice("s", "second_pass_skipped", "a final is the first model's: it would not come within 1500 ms", 0)
    other = Notice("s", "hotwords_ignored", "", 1)
    hearing = heard((100, late), (100, final("go")), (200, other), (200, late), (200, final("on")))  # type: ignore[arg-type]
    utterance = utterance_of(Asked("a", 0, 1.0, "", "en"), hearing, Schedule(START, 0.0, 1.0))
    assert utterance.second_passes_skipped == 2
