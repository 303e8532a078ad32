"""Encoder-decoder models that say the same thing over and over: found in the text, and cut back.

Such a model is its own language model. Once a phrase was said twice the third time is likely, and some audio starts a
loop that ends only at the length limit. People repeat themselves too ("no no no", "very very good", digits), so only
what nobody says counts: a phrase again and again at the end, and more words than the audio has time for.
"""

from __future__ import annotations

LONGEST_PHRASE = 12
"""Words of a phrase that is looked for."""

WORDS_PER_S = 5.0
"""Faster nobody speaks: announcers reach 4; the quickest commands of the bundled clips 3.6."""


def is_runaway(text: str, duration_s: float) -> bool:
    """Whether the text ends in a loop and is longer than anybody could have said in ``duration_s`` seconds."""
    words = _words(text)
    return len(words) > WORDS_PER_S * duration_s and _loop(words) is not None


def without_loop(text: str) -> str:
    """The text with the phrase it ends in said once."""
    words = text.split()
    found = _loop(_words(text))
    if found is None:
        return text
    start, length = found
    return " ".join(words[: start + length])


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?%").casefold() for word in text.split()]


def _loop(words: list[str]) -> tuple[int, int] | None:
    """First word and length of the shortest phrase at the end that was said twice and begun again."""
    for length in range(1, LONGEST_PHRASE + 1):
        start = len(words)
        while start > 0 and (start + length > len(words) or words[start - 1] == words[start - 1 + length]):
            start -= 1
        if len(words) - start > 2 * length:
            return start, length
    return None
