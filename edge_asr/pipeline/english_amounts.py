"""Amounts of English: plain numbers, money, measures, ordinals. Rules of :mod:`edge_asr.pipeline.english_itn`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from edge_asr.pipeline.english_numbers import (
    NUMBER_WORDS,
    SCALES,
    TENS,
    Read,
    ordinal_text,
    read_below_hundred,
    read_cardinal,
    read_decimal,
    read_ordinal,
    word_at,
    words_of,
)

_CURRENCIES = {"dollar": "$", "euro": "€", "yen": "¥", "pound": "£"}
_CENTS = words_of("cent pence")

_UNITS = words_of(
    "degree minute hour second millisecond kilometer kilometre meter metre centimeter centimetre millimeter millimetre "
    "mile inch foot feet kilogram kilo gram milligram liter litre milliliter millilitre pound volt watt kilowatt hertz "
    "kilohertz megahertz gigahertz byte kilobyte megabyte gigabyte terabyte cent pence"
)
"""With these a small number is a figure, too."""


def money(words: Sequence[str], at: int) -> Read[str] | None:
    """``five dollars and twenty cents``, ``ten million dollars``, ``a hundred euros``, ``ten pounds sixty``."""
    amount = _amount(words, at)
    if amount is None or (sign := _currency(words, amount.end)) is None:
        return None
    end = amount.end + 1
    cents = None if "." in amount.value or " " in amount.value else _cents(words, end)
    if cents:
        return Read(f"{sign}{amount.value}.{cents.value:02}", cents.end)
    return None if sign == "£" else Read(f"{sign}{amount.value}", end)  # pounds alone may be weight


def _currency(words: Sequence[str], at: int) -> str | None:
    return _CURRENCIES.get(_singular(word_at(words, at)))


def _cents(words: Sequence[str], at: int) -> Read[int] | None:
    found = read_below_hundred(words, at + 1 if word_at(words, at) == "and" else at)
    if found is None:
        return None
    if _singular(word_at(words, found.end)) in _CENTS:
        return Read(found.value, found.end + 1)
    is_price = word_at(words, at) != "and" and found.value >= 10 and found.end == len(words)
    return found if is_price else None


def measure(words: Sequence[str], at: int) -> Read[str] | None:
    """``nine point five percent``, ``minus five degrees``, ``twenty degrees celsius``, ``five kilometers``."""
    sign = "-" if words[at] in ("minus", "negative") and word_at(words, at - 1) not in NUMBER_WORDS else ""
    amount = _amount(words, at + 1 if sign else at)
    if amount is None:
        return None
    unit = word_at(words, amount.end)
    if unit == "percent" or words[amount.end : amount.end + 2] == ["per", "cent"]:
        return Read(f"{sign}{amount.value}%", amount.end + (1 if unit == "percent" else 2))
    if unit in ("degrees", "degree") and (scale := word_at(words, amount.end + 1)) in ("celsius", "fahrenheit"):
        return Read(f"{sign}{amount.value} °{scale[0].upper()}", amount.end + 2)
    if words[at] == "a" or _singular(unit) not in _UNITS or (unit == "second" and words[amount.end - 1] in TENS):
        return None
    is_one = amount.value == "1" and not sign
    return None if is_one else Read(f"{sign}{amount.value} {unit}", amount.end + 1)


def signed(words: Sequence[str], at: int) -> Read[str] | None:
    """``minus twenty``."""
    if words[at] not in ("minus", "negative") or word_at(words, at - 1) in NUMBER_WORDS:
        return None
    amount = _amount(words, at + 1)
    return Read(f"-{amount.value}", amount.end) if amount else None


def ordinal(words: Sequence[str], at: int) -> Read[str] | None:
    """``twenty first``; below the tenth they stay words, and so do fractions: "one twentieth"."""
    found = read_ordinal(words, at)
    if found is None or found.value < 10:
        return None
    before = word_at(words, at - 1)
    is_fraction = before in NUMBER_WORDS or before in ("a", "an")
    is_span = words[found.end - 1] == "second" and before != "the"
    return Read("" if is_fraction or is_span else ordinal_text(found.value), found.end)


def cardinal(words: Sequence[str], at: int) -> Read[str] | None:
    """``forty two``; numbers that follow each other without making one stay as they were said."""
    found = read_cardinal(_without_article(words, at), at)
    if found is None:
        return None
    run = at + len(list(takewhile(lambda word: word in NUMBER_WORDS, words[at:])))
    if run > found.end or word_at(words, at - 1) in NUMBER_WORDS:
        return Read("", max(run, found.end))
    if words[at] == "a" and found.end - at == 2:
        return Read("", found.end)
    if found.value < 10 or _may_be_time(words, found):
        return Read("", found.end)
    amount = _amount(words, at)
    return amount and Read(amount.value, amount.end)


def decimal(words: Sequence[str], at: int) -> Read[str] | None:
    """``three point one four``, ``one point two billion``."""
    return _amount(words, at) if read_decimal(words, at) else None


def _amount(words: Sequence[str], at: int) -> Read[str] | None:
    """A number as figures: ``1500``, ``64,000``, ``1.2 billion``; ``a hundred`` is one too."""
    words = _without_article(words, at)
    decimal = read_decimal(words, at)
    if decimal:
        scale = word_at(words, decimal.end)
        is_scaled = scale in SCALES
        return Read(f"{decimal.value} {scale}" if is_scaled else decimal.value, decimal.end + is_scaled)
    whole = read_cardinal(words, at)
    return Read(_cardinal_text(whole.value), whole.end) if whole else None


def _without_article(words: Sequence[str], at: int) -> Sequence[str]:
    """``a hundred`` as ``one hundred``."""
    if word_at(words, at) != "a" or (word_at(words, at + 1) != "hundred" and word_at(words, at + 1) not in SCALES):
        return words
    return [*words[:at], "one", *words[at + 1 :]]


def _may_be_time(words: Sequence[str], found: Read[int]) -> bool:
    """``ten to six``."""
    hour = read_below_hundred(words, found.end + 1)
    return word_at(words, found.end) == "to" and hour is not None and hour.value < 10 and found.value < 30


def _cardinal_text(value: int) -> str:
    for name, scale in reversed(SCALES.items()):
        if scale >= SCALES["million"] and 0 < value < 1000 * scale and value % scale == 0:
            return f"{value // scale} {name}"
    return f"{value:,}" if value >= 10_000 else str(value)


def _singular(word: str) -> str:
    if word == "inches":
        return "inch"
    return word if word in ("feet", "pence", "hertz", "celsius") else word.removesuffix("s")
