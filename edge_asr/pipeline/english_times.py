"""Times of day and dates of English: rules of :mod:`edge_asr.pipeline.english_itn`. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from edge_asr.pipeline.english_numbers import (
    NUMBER_WORDS,
    TENS,
    Read,
    ordinal_text,
    read_below_hundred,
    read_ordinal,
    read_year,
    word_at,
    words_of,
)

MONTHS = words_of("january february march april may june july august september october november december")
WEEKDAYS = words_of("monday tuesday wednesday thursday friday saturday sunday")

AMBIGUOUS_MONTHS = words_of("march may august")
"""Other words too: before a number they are months only where that is an ordinal or a year."""

_BEFORE_TIMES = words_of("at by until till before after around about since from is it's")
_BEFORE_MINUTES_TO = words_of("at by until it's")
_BEFORE_IS = words_of("it time")
_BEHIND_PRICES = words_of("dollar dollars euro euros pound pounds yen percent")


def past_or_to(words: Sequence[str], at: int) -> Read[str] | None:
    """``half past three``, ``a quarter to five``, ``twenty past six``."""
    begin = at + 1 if words[at] == "a" and word_at(words, at + 1) == "quarter" else at
    minutes = {"half": 30, "quarter": 15}.get(word_at(words, begin))
    end = begin + 1
    if minutes is None:
        said = read_below_hundred(words, at)
        if said is None or said.value >= 30:
            return None
        minutes = said.value
        if not minutes:
            return None
        end = said.end + 1 if word_at(words, said.end) in ("minute", "minutes") else said.end
        if word_at(words, end) == "to" and (words[end + 2 : end + 3] == ["odds"] or not _tells_time(words, at)):
            return None
    hour = read_below_hundred(words, end + 1)
    if hour is None or not 1 <= hour.value <= 12 or word_at(words, end) not in ("past", "to"):
        return None
    if word_at(words, end) == "past":
        return Read(f"{hour.value}:{minutes:02}", hour.end)
    if minutes == 30:
        return None  # nobody says "half to"
    return Read(f"{hour.value - 1 or 12}:{60 - minutes:02}", hour.end)


def _tells_time(words: Sequence[str], at: int) -> bool:
    """Whether "ten to six" is a time here: "it is ten to six", and not "the score is"."""
    before = word_at(words, at - 1)
    return before in _BEFORE_MINUTES_TO or (before == "is" and word_at(words, at - 2) in _BEFORE_IS)


def clock(words: Sequence[str], at: int) -> Read[str] | None:
    """``eight o'clock``, ``three thirty p m``, ``at seven oh five``, ``fourteen hundred hours``.

    "Eight hundred hours" may be a month of work; who tells the time says "zero eight hundred".
    """
    hour = read_below_hundred(words, at)
    if hour is None or hour.value > 24:
        return None
    if hour.value >= 10 and words[hour.end : hour.end + 2] == ["hundred", "hours"]:
        return None if word_at(words, hour.end + 2) == "of" else Read(f"{hour.value:02}:00", hour.end + 2)
    if not 1 <= hour.value <= 12 or hour.end - at > 1:
        return None
    if word_at(words, hour.end) == "o'clock":
        return Read(f"{hour.value}:00", hour.end + 1)
    has_cue = word_at(words, at - 1) in _BEFORE_TIMES
    minutes = _minutes(words, hour.end)
    time = Read(f"{hour.value}:{minutes.value}", minutes.end) if minutes else Read(str(hour.value), hour.end)
    half_day = _half_day(words, time.end, may_be_verb=minutes is None and not has_cue)
    if half_day:
        return Read(f"{time.value} {half_day.value}", half_day.end)
    is_more = word_at(words, time.end) in NUMBER_WORDS or word_at(words, time.end) in _BEHIND_PRICES
    return time if minutes and has_cue and not is_more else None


def _minutes(words: Sequence[str], at: int) -> Read[str] | None:
    if word_at(words, at) in ("oh", "o"):
        digit = read_below_hundred(words, at + 1)
        return Read(f"0{digit.value}", digit.end) if digit and digit.value < 10 else None
    found = read_below_hundred(words, at)
    return Read(str(found.value), found.end) if found and 10 <= found.value <= 59 else None


def _half_day(words: Sequence[str], at: int, *, may_be_verb: bool) -> Read[str] | None:
    word = word_at(words, at)
    if word in ("a", "p") and word_at(words, at + 1) == "m":
        return Read(f"{word}.m.", at + 2)
    if word in ("pm", "p.m", "a.m") or (word == "am" and not may_be_verb and word_at(words, at + 1) != "i"):
        return Read(f"{word[0]}.m.", at + 1)
    return None


def date(words: Sequence[str], at: int) -> Read[str] | None:
    """``march third nineteen eighty four``, ``june five``, ``may twenty twenty``."""
    if words[at] not in MONTHS:
        return None
    month = words[at].capitalize()
    day = _day(words, at + 1, is_ordinal_needed=words[at] in AMBIGUOUS_MONTHS)
    year = read_year(words, at + 1)
    if year and (day is None or year.end > day.end):
        return Read(f"{month} {year.value}", year.end)
    if day is None:
        return None
    year = read_year(words, day.end)
    return Read(f"{month} {day.value}, {year.value}", year.end) if year else Read(f"{month} {day.value}", day.end)


def day_of_month(words: Sequence[str], at: int) -> Read[str] | None:
    """``third of march nineteen eighty four``, ``monday the fifth``."""
    if words[at] in WEEKDAYS and word_at(words, at + 1) == "the":
        day = read_ordinal(words, at + 2)
        if day and day.value <= 31 and word_at(words, day.end) != "of":
            return Read(f"{words[at].capitalize()} the {ordinal_text(day.value)}", day.end)
        return None
    day = read_ordinal(words, at)
    if day is None or day.value > 31 or word_at(words, day.end) != "of" or word_at(words, day.end + 1) not in MONTHS:
        return None
    date = f"{ordinal_text(day.value)} of {words[day.end + 1].capitalize()}"
    year = read_year(words, day.end + 2)
    return Read(f"{date} {year.value}", year.end) if year else Read(date, day.end + 2)


def _day(words: Sequence[str], at: int, *, is_ordinal_needed: bool) -> Read[int] | None:
    day = read_ordinal(words, at) or (None if is_ordinal_needed else read_below_hundred(words, at))
    return day if day and 1 <= day.value <= 31 else None


def decade(words: Sequence[str], at: int) -> Read[str] | None:
    """``the nineteen nineties``."""
    century = read_below_hundred(words, at)
    tens = next((value for word, value in TENS.items() if f"{word[:-1]}ies" == word_at(words, at + 1)), None)
    return Read(f"{century.value}{tens}s", at + 2) if century and tens and 11 <= century.value <= 20 else None


def year(words: Sequence[str], at: int) -> Read[str] | None:
    """``nineteen eighty four`` without a month."""
    year = read_year(words, at)
    if year is None or year.value < 1300 or word_at(words, year.end) in NUMBER_WORDS:
        return None
    return Read(str(year.value), year.end)
