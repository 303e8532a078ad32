"""Languages by their tags."""

from __future__ import annotations

import pytest

from edge_asr.languages import heard_language, speaks


@pytest.mark.parametrize(
    ("languages", "asked", "does"),
    [
        (("en",), "en-US", True),
        (("en-US",), "en_GB", True),
        (("en",), "de", False),
        (("zh", "en"), "en", True),
        (("en",), "", True),
        (("en",), "auto", True),
        ((), "de", True),
        (("und",), "de", True),
    ],
)
def test_who_speaks_what(languages: tuple[str, ...], asked: str, does: bool) -> None:
    assert speaks(languages, asked) is does


@pytest.mark.parametrize(
    ("asked", "languages", "heard"),
    [
        ("en-GB", ("en",), "en-GB"),
        ("de", ("en",), "en"),
        ("", ("en",), "en"),
        ("auto", ("en",), "en"),
        ("", ("zh", "en"), ""),
        ("de", ("zh", "en"), ""),
    ],
)
def test_a_text_is_never_said_to_be_in_a_language_that_the_model_does_not_speak(
    asked: str, languages: tuple[str, ...], heard: str
) -> None:
    assert heard_language(asked, languages) == heard
