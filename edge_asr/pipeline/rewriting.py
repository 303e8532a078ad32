"""Words with their times carried over to a text that says the same in another way. Pure.

What was said in several words and is written in one ("twenty five", "25") takes the time of all of them; what is
written in more words than it was said in is spread evenly over theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from edge_asr.events import Word
from edge_asr.pipeline.scripts import stands_alone


def rewritten(words: Sequence[Word], text: str) -> tuple[Word, ...]:
    """The words of ``text``, timed by ``words``, which say the same.

    Args:
        words: As they were said, in order of time.
        text: As it is written; words that only differ in case or punctuation are the same.

    Returns:
        One word per word of the text (per character in scripts without spaces, punctuation with the word before).
    """
    spellings = list(written_words(text))
    if not words or [word.text for word in words] == spellings:
        return tuple(words)
    matcher = SequenceMatcher(None, [_core(word.text) for word in words], list(map(_core, spellings)), autojunk=False)
    result: list[Word] = []
    for kind, begin, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            pairs = zip(words[begin:end], spellings[first:last], strict=True)
            result += (Word(spelling, word.start_s, word.end_s, word.confidence) for word, spelling in pairs)
        elif kind != "delete":
            result += _spread(_said(words, begin, end), spellings[first:last])
    return tuple(result)


def written_words(text: str) -> Iterator[str]:
    """Words of a text, single characters of scripts that are written without spaces."""
    for part in text.split():
        begin = 0
        for at in range(1, len(part)):
            is_character = stands_alone(part[at]) or stands_alone(part[at - 1])
            if (_core(part[at]) and is_character) or _follows_mark(part, at):
                yield part[begin:at]
                begin = at
        yield part[begin:]


def confidence_of(words: Sequence[Word]) -> float | None:
    """Of several words as one: the geometric mean; ``None`` where one of them has none."""
    known = [word.confidence for word in words if word.confidence is not None]
    if not known or len(known) < len(words):
        return None
    return math.exp(sum(math.log(max(confidence, 1e-9)) for confidence in known) / len(known))


def _follows_mark(part: str, at: int) -> bool:
    """Whether a new word begins behind the punctuation of a script without spaces."""
    return at >= 2 and bool(_core(part[at])) and not _core(part[at - 1]) and stands_alone(part[at - 2])


def _said(words: Sequence[Word], begin: int, end: int) -> Word:
    """The words as one; for none of them, the moment between their neighbours."""
    if begin < end:
        said = words[begin:end]
        return Word("", said[0].start_s, max(word.end_s for word in said), confidence_of(said))
    moment_s = words[begin - 1].end_s if begin else words[0].start_s
    return Word("", moment_s, moment_s)


def _spread(said: Word, spellings: Sequence[str]) -> Iterator[Word]:
    step_s = (said.end_s - said.start_s) / len(spellings)
    for number, spelling in enumerate(spellings):
        start_s = said.start_s + number * step_s
        yield Word(spelling, start_s, start_s + step_s, said.confidence)


def _core(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
