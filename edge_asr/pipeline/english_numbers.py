"""Number words of English and the numbers they say. Pure; words are lower case, without punctuation.

Each reader takes words and a position, and gives what it read with the position behind it, or ``None``. It reads as
much as belongs together: "two hundred and five" is one number, "ten and twenty" are two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")

_SMALL_LIST = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS_LIST = "twenty thirty forty fifty sixty seventy eighty ninety"


def words_of(listed: str) -> frozenset[str]:
    """A set of words that stand behind each other."""
    return frozenset(listed.split())


_SMALL = _SMALL_LIST.split()
_TENS = _TENS_LIST.split()

DIGITS = {word: value for value, word in enumerate(_SMALL[:10])}
UNITS = {word: value for value, word in enumerate(_SMALL) if value}
"""One to nineteen."""
TENS = {word: 20 + 10 * number for number, word in enumerate(_TENS)}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
_IRREGULAR["twelve"] = "twelfth"
ORDINAL_UNITS = {_IRREGULAR.get(word, f"{word}th"): value for word, value in UNITS.items()}
ORDINAL_TENS = {f"{word[:-1]}ieth": value for word, value in TENS.items()}

NUMBER_WORDS = frozenset({*DIGITS, *UNITS, *TENS, *SCALES, "hundred"})


@dataclass(frozen=True, slots=True)
class Read(Generic[Value]):
    """What was read, and where reading ended."""

    value: Value
    end: int


def read_below_hundred(words: Sequence[str], at: int) -> Read[int] | None:
    """``forty two``, ``seven``, ``zero``."""
    word = word_at(words, at)
    if word in TENS:
        unit = DIGITS.get(word_at(words, at + 1), 0)
        return Read(TENS[word] + unit, at + 2 if unit else at + 1)
    if word in UNITS or word == "zero":
        return Read(UNITS.get(word, 0), at + 1)
    return None


def read_cardinal(words: Sequence[str], at: int) -> Read[int] | None:
    """``two thousand three hundred and five``."""
    total, scale_before = 0, 10**15
    end = at
    while found := _read_group(words, _behind_and(words, end) if end > at else end):
        scale = SCALES.get(word_at(words, found.end), 1)
        if scale >= scale_before or (end > at and scale_before == 1):
            break
        total += found.value * scale
        end = found.end if scale == 1 else found.end + 1
        scale_before = scale
        if scale == 1:
            break
    return Read(total, end) if end > at else None


def read_ordinal(words: Sequence[str], at: int) -> Read[int] | None:
    """``third``, ``twenty first``, ``one hundred and second``."""
    word = word_at(words, at)
    if word in ORDINAL_UNITS or word in ORDINAL_TENS:
        return Read(ORDINAL_UNITS.get(word) or ORDINAL_TENS[word], at + 1)
    if word in TENS and (unit := ORDINAL_UNITS.get(word_at(words, at + 1), 10)) < 10:
        return Read(TENS[word] + unit, at + 2)
    hundreds = _read_hundreds(words, at)
    if hundreds and (rest := read_ordinal(words, _behind_and(words, hundreds.end))) and rest.value < 100:
        return Read(hundreds.value + rest.value, rest.end)
    return None


def read_decimal(words: Sequence[str], at: int) -> Read[str] | None:
    """``three point one four``, ``one point two point three``; only where there is a point."""
    whole = read_cardinal(words, at)
    if whole is None or word_at(words, whole.end) != "point":
        return None
    text, end = str(whole.value), whole.end
    while word_at(words, end) == "point" and (places := _read_places(words, end + 1)):
        text, end = f"{text}.{places.value}", places.end
    return Read(text, end) if end > whole.end else None


def read_year(words: Sequence[str], at: int) -> Read[int] | None:
    """``nineteen eighty four``, ``twenty ten``, ``nineteen oh five``, ``two thousand and one``: 1100 to 2099."""
    century = UNITS.get(word_at(words, at), 0) or TENS.get(word_at(words, at), 0)
    if 11 <= century <= 20:
        if word_at(words, at + 1) in ("oh", "o") and DIGITS.get(word_at(words, at + 2), 0) > 0:
            return Read(century * 100 + DIGITS[words[at + 2]], at + 3)
        rest = read_below_hundred(words, at + 1)
        if rest and rest.value >= 10:
            return Read(century * 100 + rest.value, rest.end)
    whole = read_cardinal(words, at)
    return whole if whole and 1100 <= whole.value <= 2099 else None


def read_digits(words: Sequence[str], at: int) -> Read[str] | None:
    """Three digits or more, said one by one: ``nine one one``, ``four oh four``, ``double five one``."""
    digits, end = "", at
    while True:
        word = word_at(words, end)
        if digits == "1" and tuple(words[end : end + 2]) == ("eight", "hundred"):
            digits, end = "1800", end + 2  # how telephone numbers that cost nothing begin
            continue
        times = {"double": 2, "triple": 3}.get(word, 1)
        if times > 1:
            word = word_at(words, end + 1)
        digit = "0" if word in ("oh", "o") and digits else str(DIGITS.get(word, ""))
        if not digit:
            break
        digits += digit * times
        end += 2 if times > 1 else 1
    if word_at(words, end) in NUMBER_WORDS - DIGITS.keys():
        return None  # "two three hundred": the last digit begins another number
    if digits == "1800":
        return None  # "one eight hundred dollars"
    return Read(digits, end) if len(digits) >= 3 else None


def _read_group(words: Sequence[str], at: int) -> Read[int] | None:
    """Below a thousand, or ``twelve hundred``."""
    hundreds = _read_hundreds(words, at)
    if hundreds is None:
        return read_below_hundred(words, at)
    rest = read_below_hundred(words, _behind_and(words, hundreds.end))
    if rest is None or rest.value == 0:
        return hundreds
    return Read(hundreds.value + rest.value, rest.end)


def _read_hundreds(words: Sequence[str], at: int) -> Read[int] | None:
    count = UNITS.get(word_at(words, at), 0)
    return Read(count * 100, at + 2) if count and word_at(words, at + 1) == "hundred" else None


def _read_places(words: Sequence[str], at: int) -> Read[str] | None:
    """What stands behind a point: digits, or a number below a hundred."""
    digits, end = "", at
    while (word := word_at(words, end)) in DIGITS or word in ("oh", "o"):
        digits += str(DIGITS.get(word, 0))
        end += 1
    if digits:
        return Read(digits, end)
    found = read_below_hundred(words, at)
    return Read(str(found.value), found.end) if found else None


def _behind_and(words: Sequence[str], at: int) -> int:
    return at + 1 if word_at(words, at) == "and" else at


def ordinal_text(value: int) -> str:
    """``21st``."""
    ending = "th" if 10 <= value % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


def word_at(words: Sequence[str], at: int) -> str:
    """The word, or an empty one outside."""
    return words[at] if 0 <= at < len(words) else ""
