"""Inverse text normalisation: a hundred cases with the right values, and what must not be touched."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.errors import ConfigurationError
from edge_asr.pipeline.itn import InverseNormaliser, language_of, require_tables

ENGLISH = {
    # Numbers
    "i have twenty one apples": "i have 21 apples",
    "page two hundred and six": "page 206",
    "one hundred and twenty three thousand four hundred fifty six": "123,456",
    "one million people": "1 million people",
    "eight hundred and forty seven million": "847 million",
    "two million three hundred thousand": "2,300,000",
    "one point two billion": "1.2 billion",
    "three point one four": "3.14",
    "version one point two point three": "version 1.2.3",
    "minus twenty": "-20",
    "a hundred and five people": "105 people",
    "ten to twelve people": "10 to 12 people",
    "between ten and twenty": "between 10 and 20",
    "room four oh four": "room 404",
    "call five five five one two three four": "call 5551234",
    "double five one": "551",
    "the twenty first century": "the 21st century",
    "the one hundred and second time": "the 102nd time",
    "go to example dot com": "go to example.com",
    # Dates
    "on january fifth twenty twenty six": "on January 5, 2026",
    "july fourth seventeen seventy six": "July 4, 1776",
    "the third of march nineteen eighty four": "the 3rd of March 1984",
    "march twenty twenty": "March 2020",
    "june five": "June 5",
    "may third": "May 3",
    "monday the fifth": "Monday the 5th",
    "september eleventh two thousand and one": "September 11, 2001",
    "in nineteen oh five": "in 1905",
    "the nineteen nineties": "the 1990s",
    "December thirty-first, nineteen ninety nine.": "December 31, 1999.",
    # Money
    "it costs five dollars and twenty cents": "it costs $5.20",
    "ninety nine dollars and ninety nine cents": "$99.99",
    "one dollar": "$1",
    "a hundred dollars": "$100",
    "three point five million dollars": "$3.5 million",
    "three euros fifty": "€3.50",
    "ten pounds sixty": "£10.60",
    "fifteen thousand yen": "¥15,000",
    "two cents": "2 cents",
    # Times
    "meet me at half past three": "meet me at 3:30",
    "a quarter to five": "4:45",
    "twenty past six": "6:20",
    "at three thirty p m": "at 3:30 p.m.",
    "eight oh five p m": "8:05 p.m.",
    "Three thirty a.m., okay?": "3:30 a.m., okay?",
    "it is seven thirty": "it is 7:30",
    "at ten o'clock": "at 10:00",
    "at ten to six": "at 5:50",
    "the time is ten to six": "the time is 5:50",
    "fourteen hundred hours": "14:00",
    # Measures
    "ninety nine percent": "99%",
    "nine point five per cent": "9.5%",
    "minus five degrees": "-5 degrees",
    "twenty five degrees celsius": "25 °C",
    "Set the timer to Twenty-Five minutes.": "Set the timer to 25 minutes.",
    "five kilometers": "5 kilometers",
    "two hours and thirty minutes": "2 hours and 30 minutes",
    # What could mean something else stays as it was said
    "no one is one of us": "no one is one of us",
    "wait a second": "wait a second",
    "first of all": "first of all",
    "one third": "one third",
    "three to four weeks": "three to four weeks",
    "twenty four seven": "twenty four seven",
    "ten to six": "ten to six",
    "a hundred": "a hundred",
    "may i have one": "may i have one",
    "one by one": "one by one",
    "a twenty second timer": "a twenty second timer",
    "the score is five to one": "the score is five to one",
    "it's five to one odds": "it's five to one odds",
    "at seven am i late": "at seven am i late",
    "at zero to one": "at zero to one",
    "zero past one": "zero past one",
    "one eight hundred dollars": "one eight hundred dollars",
    "eight hundred hours of practice": "800 hours of practice",
    "fourteen hundred hours of practice": "1400 hours of practice",
    "one billion two hundred million": "1,200,000,000",
}

CHINESE = {
    "我有二十五个": "我有25个",
    "两万五千": "25000",
    "百分之二十五": "25%",
    "三分之一": "1/3",
    "零点五": "0.5",
    "价格是十三点五元": "价格是¥13.5",
    "一百美元": "$100",
    "二零二六年十一月三十日": "2026年11月30日",
    "二零二六年五月一日下午三点半": "2026年5月1日下午3:30",
    "一九九八年三月": "1998年3月",
    "九点十五分": "9:15",
    "早上八点零五分见": "早上8:05见",
    "十点一刻": "10:15",
    "电话号码是一三八零零一三八零零零": "电话号码是13800138000",
    "你好，今天花了三千块。": "你好，今天花了3000块。",
    "三点五公斤": "3.5kg",
    "第十二章": "第12章",
    "万一": "万一",
    "我有两个苹果": "我有两个苹果",
    "一起去": "一起去",
}

JAPANESE = {
    "百二十三": "123",
    "二千二十六年十一月三十日": "2026年11月30日",
    "三時半に会いましょう": "3時半に会いましょう",
    "午後三時十五分": "午後3時15分",
    "五百円です": "500円です",
    "一万二千円": "12000円",
    "九十パーセント": "90%",
    "零点五": "0.5",
    "二十歳": "20歳",
    "千九百八十四年": "1984年",
    "二分の一": "1/2",
    "百メートル": "100m",
    "りんごを二つ": "りんごを二つ",
}


def test_there_are_a_hundred_cases() -> None:
    assert len(ENGLISH) + len(CHINESE) + len(JAPANESE) >= 100


@pytest.mark.parametrize(("said", "written"), ENGLISH.items(), ids=ENGLISH)
def test_english(said: str, written: str) -> None:
    assert InverseNormaliser(["en-US"]).write(said) == written


@pytest.mark.parametrize(("said", "written"), CHINESE.items(), ids=CHINESE)
def test_chinese(said: str, written: str) -> None:
    assert InverseNormaliser(["zh"]).write(said) == written


@pytest.mark.parametrize(("said", "written"), JAPANESE.items(), ids=JAPANESE)
def test_japanese(said: str, written: str) -> None:
    assert InverseNormaliser(["ja"]).write(said) == written


def test_the_script_decides_between_the_languages_of_a_model() -> None:
    both = InverseNormaliser(["zh", "en"])
    assert (both.write("二十五个"), both.write("twenty five of them")) == ("25个", "25 of them")


def test_japanese_is_told_by_its_kana() -> None:
    assert language_of("三時に", ["zh", "ja"]) == "ja"


def test_other_languages_stay_as_they_are() -> None:
    assert InverseNormaliser(["de"]).write("um halb drei") == "um halb drei"


@pytest.mark.parametrize("language", ["zh", "ja"])
@pytest.mark.parametrize("text", ['他说"二十"', "二\\十", "{二十}", "a\0b", ' "', "value: x"])
def test_what_the_tables_would_lose_is_kept(language: str, text: str) -> None:
    kept = [char for char in text if char in '"\\{}:\0']
    assert [char for char in InverseNormaliser([language]).write(text) if char in kept] == kept


@given(st.text(string.ascii_letters + " -.,'", max_size=60))
def test_words_that_say_no_number_are_never_touched(text: str) -> None:
    words = [
        word for word in text.split() if not any(part in word.lower() for part in ("dot", "one", "two", "six", "ten"))
    ]
    assert InverseNormaliser(["en"]).write(" ".join(words)).split() == words


def test_tables_that_are_not_installed_are_named_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    require_tables(["en"])
    with pytest.raises(ConfigurationError, match=r"install edge-asr\[itn\]"):
        require_tables(["zh"])
