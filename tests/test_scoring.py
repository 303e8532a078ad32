"""Error rates with known values."""

from __future__ import annotations

import pytest

from edge_asr.scoring import metric_of, normalise, score


def test_every_kind_of_error_is_counted() -> None:
    report = score(["go forward ten meters now"], ["go forwards ten meters right there"])

    assert (report.substitutions, report.deletions, report.insertions) == (2, 0, 1)
    assert (report.reference_units, report.error_rate) == (5, 0.6)


def test_utterances_are_pooled_and_not_averaged() -> None:
    report = score(["a b c d e f g h i j", "yes"], ["a b c d e f g h i j", "no"])

    assert report.error_rate == 1 / 11
    assert (report.utterance_errors, report.utterance_units) == ((0, 1), (10, 1))


def test_nothing_recognised_is_all_deletions() -> None:
    report = score(["go forward"], [""])

    assert (report.deletions, report.error_rate) == (2, 1.0)


def test_words_where_nothing_was_said_are_insertions() -> None:
    report = score(["", "one"], ["hello there", "one"])

    assert (report.insertions, report.reference_units, report.error_rate) == (2, 1, 2.0)


@pytest.mark.parametrize(
    ("said", "recognised"),
    [
        ("Mr. Smith isn't here!", "mister smith is not here"),
        ("twenty-one colours", "21 colors"),
        ("10 meters", "ten meters"),
    ],
)
def test_english_spellings_of_the_same_words_are_no_errors(said, recognised) -> None:
    assert score([said], [recognised]).errors == 0


def test_other_languages_keep_their_words() -> None:
    report = score(["Mr. Müller, zehn Äpfel"], ["mr müller zehn äpfel"], language="de")

    assert report.errors == 0
    assert "basic" in report.normaliser
    assert score(["ten"], ["10"], language="de").errors == 1


@pytest.mark.parametrize(
    ("language", "metric"),
    [("en", "wer"), ("de", "wer"), ("zh", "cer"), ("zh-Hans", "cer"), ("JA_jp", "cer"), ("ko", "cer"), ("yue", "cer")],
)
def test_the_language_decides_the_unit(language, metric) -> None:
    assert metric_of(language) == metric


def test_chinese_is_scored_by_characters_whatever_the_spaces() -> None:
    report = score(["你好，世界。"], ["你 好 世 间"], language="zh")

    assert (report.substitutions, report.reference_units, report.error_rate) == (1, 4, 0.25)


def test_an_english_word_in_chinese_is_one_unit() -> None:
    report = score(["打开 Netflix 看 Tiger King。"], ["打开netflix看 tiger kid"], language="zh")

    assert (report.substitutions, report.errors, report.reference_units) == (1, 1, 6)


def test_figures_that_count_latin_words_whole_are_told_from_older_ones() -> None:
    assert "Latin words whole" in score(["你好"], ["你好"], language="zh").normaliser
    assert "Latin words whole" not in score(["bonjour"], ["bonjour"], language="fr").normaliser


def test_normalised_text_has_single_spaces() -> None:
    assert normalise("  Hello,   WORLD  ") == "hello world"
    assert normalise("你好 世界", "zh") == "你 好 世 界"


def test_without_any_reference_word_there_is_no_rate() -> None:
    report = score([""], [""])

    with pytest.raises(ValueError, match="no words"):
        _ = report.error_rate


def test_every_reference_needs_its_hypothesis() -> None:
    with pytest.raises(ValueError, match="2 references and 1 hypotheses"):
        score(["a", "b"], ["a"])


def test_the_normaliser_is_named_with_its_version() -> None:
    assert score(["a"], ["a"]).normaliser.startswith("whisper-normalizer 0.")
