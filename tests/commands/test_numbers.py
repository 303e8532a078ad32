from __future__ import annotations

import hassil.numbers
import pytest

from edge_asr.commands.numbers import digits, language_tag, number_words, spoken
from edge_asr.errors import ConfigurationError


@pytest.mark.parametrize(
    ("number", "language", "texts"),
    [
        (21, "en", ("twenty one",)),
        (105, "en", ("one hundred five", "one hundred and five")),
        (20.5, "en", ("twenty point five",)),
        (21, "de", ("einundzwanzig",)),
        (21, "en-GB", ("twenty one",)),
        (21, "xx", ()),
    ],
)
def test_spoken(number, language, texts):
    assert spoken(number, language) == texts


@pytest.mark.parametrize("language", ["en", "pt-BR", "sr_Latn", "zh-Hant-TW"])
def test_a_language_tag(language):
    assert language_tag(language) == language


@pytest.mark.parametrize("language", ["", "e", "../de", "de/../en", "de.xml", "de\n", None, 5, True, ["en"]])
def test_no_language_tag(language):
    with pytest.raises(ConfigurationError, match="is no BCP 47 tag"):
        language_tag(language)


def test_words_to_numbers():
    words = number_words("en")
    assert words["sixteen",] == 16
    assert words["nine", "hundred", "and", "ninety", "nine"] == 999


@pytest.mark.parametrize(("number", "text"), [(5, "5"), (5.0, "5"), (-2, "-2"), (20.5, "20.5")])
def test_digits(number, text):
    assert digits(number) == text


def test_the_rules_of_languages_that_sessions_name_are_not_kept_for_ever():
    for region in range(20):
        assert spoken(7, f"en-X{region:02}") == ("seven",)
    assert len(hassil.numbers._ENGINE_CACHE) <= 1
