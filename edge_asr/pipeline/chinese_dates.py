"""Dates and times of day in Chinese, in figures: "二零二六年五月一日下午三点半" is "2026年5月1日下午3:30". Pure.

The tables for everything else write "2026/05/01" and "3:30p.m." and put both together without a space, which nobody can
read. What is no full date or time ("三点", "三点五") is left to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SMALL = "(?:[二三四五]?十[一二三四五六七八九]?|[一二三四五六七八九两])"
_DATE = rf"(?P<year>[零〇一二三四五六七八九]{{4}}年)?(?P<month>{_SMALL}月)(?P<day>{_SMALL}[日号])"
_YEAR = r"(?P<year_alone>[零〇一二三四五六七八九]{4}年)(?P<month_alone>" + _SMALL + "月)?"
_TIME = (
    rf"(?P<hour>{_SMALL})点(?:(?P<half>半)|(?P<quarters>[一三])刻|(?P<minute>[零〇]?{_SMALL})分)"
    rf"(?:(?P<second>[零〇]?{_SMALL})秒)?"
)
_PATTERN = re.compile(f"{_DATE}|{_YEAR}|{_TIME}")


def with_dates(text: str, write: Callable[[str], str]) -> str:
    """The text with its dates and times in figures; ``write`` does the rest, piece by piece."""
    written, begin = "", 0
    for match in _PATTERN.finditer(text):
        written += write(text[begin : match.start()]) + (_time(match) if match["hour"] else _date(match))
        begin = match.end()
    return written + write(text[begin:])


def _date(match: re.Match[str]) -> str:
    year = match["year"] or match["year_alone"] or ""
    figures = "".join(str(_DIGITS.get(char, char)) for char in year)
    parts = (match["month"] or match["month_alone"], match["day"])
    return figures + "".join(f"{_number(part[:-1])}{part[-1]}" for part in parts if part)


def _time(match: re.Match[str]) -> str:
    if match["half"]:
        minute = 30
    elif match["quarters"]:
        minute = 15 * _number(match["quarters"])
    else:
        minute = _number(match["minute"])
    time = f"{_number(match['hour'])}:{minute:02}"
    return f"{time}:{_number(match['second']):02}" if match["second"] else time


def _number(text: str) -> int:
    """Below sixty: ``五``, ``十五``, ``二十``, ``零五``."""
    tens, ten, units = text.lstrip("零〇").rpartition("十")
    return (_DIGITS[tens] if tens else 1 if ten else 0) * 10 + (_DIGITS[units] if units else 0)
