"""What one listener heard of one recording, and when: the latencies of an utterance. Pure: times in, figures out.

Times are monotonic nanoseconds. The position of a word in the recording becomes a time by the moment at which its
source delivered the recording's first sample, so that all delays are measured on the wall clock and never taken from
the model's own time stamps, which know nothing of computing and queueing.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from edge_asr.bench.document import Utterance
from edge_asr.events import Final, Notice, Partial, TranscriptEvent
from edge_asr.scoring import metric_of, score
from edge_asr.workload import AlignedWord

_APOSTROPHES = re.compile("['’]")


class Look(NamedTuple):
    """The whole text of the recording so far as it stood from this moment on."""

    at_ns: int
    text: str


@dataclass(slots=True)
class Hearing:
    """Collects the events of one session."""

    looks: list[Look] = field(default_factory=list)
    finals: list[Final] = field(default_factory=list)
    final_heard_ns: int = 0
    """When the last final reached the listener."""
    last_release_ns: int = 0
    """When the audio that the last event needed had been delivered, as far as the listener knows."""
    second_passes_skipped: int = 0
    """Finals that are the first model's although there is a second pass."""

    def hear(self, event: TranscriptEvent, heard_ns: int, released_ns: int = 0) -> None:
        """Take an event.

        Args:
            event: Others than partials, finals and notices of skipped second passes are ignored.
            heard_ns: When the listener had it.
            released_ns: When the newest audio was delivered to the recogniser before this event.
        """
        if isinstance(event, Notice):
            self.second_passes_skipped += event.code == "second_pass_skipped"
        if isinstance(event, Final):
            self.finals.append(event)
            self.final_heard_ns = heard_ns
            self.last_release_ns = released_ns
        elif not isinstance(event, Partial):
            return
        open_text = event.text if isinstance(event, Partial) else ""
        text = " ".join([*(final.text for final in self.finals), open_text]).strip()
        if not self.looks or self.looks[-1].text != text:
            self.looks.append(Look(heard_ns, text))

    @property
    def text(self) -> str:
        """All finals."""
        return " ".join(final.text for final in self.finals if final.text).strip()


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the recording was said, as far as the clock goes."""

    started_ns: int
    """When its first sample was captured."""
    onset_s: float
    """Where speech begins in the recording."""
    end_s: float
    """Where it ends."""
    finished_ns: int = 0
    """When ``finish`` was said; 0 when the endpoint rule closed the segment."""

    def at(self, position_s: float) -> int:
        """When a position of the recording was captured."""
        return self.started_ns + round(position_s * 1e9)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was played."""

    clip: str
    stream: int
    audio_s: float
    reference: str
    language: str
    words: tuple[AlignedWord, ...] = ()


def utterance_of(asked: Asked, hearing: Hearing, schedule: Schedule) -> Utterance:
    """The figures of one utterance at live pace; see :class:`~edge_asr.bench.document.Utterance`."""
    errors, units = word_errors(asked.reference, hearing.text, asked.language)
    changed, emitted = changes(hearing.looks)
    spoken_until_ns = schedule.at(schedule.end_s)
    # The end of speech as the recording has it: a final that came earlier closed an earlier segment.
    reason = hearing.finals[-1].reason if hearing.finals else "end_of_audio"
    is_by_rule = reason != "end_of_audio" and hearing.final_heard_ns > spoken_until_ns
    final_ms = _ms(hearing.final_heard_ns - spoken_until_ns) if is_by_rule else None
    delivery_ms = compute_ms = rule_ms = None
    if is_by_rule and hearing.finals:
        emitted_ns = hearing.finals[-1].emitted_ns
        delivery_ms = _ms(hearing.final_heard_ns - emitted_ns)
        compute_ms = _ms(emitted_ns - hearing.last_release_ns)
        rule_ms = _ms(hearing.last_release_ns - spoken_until_ns)
    has_flush = schedule.finished_ns and hearing.final_heard_ns >= schedule.finished_ns
    return Utterance(
        clip=asked.clip,
        stream=asked.stream,
        audio_s=asked.audio_s,
        errors=errors,
        units=units,
        text=hearing.text,
        first_partial_ms=_first_partial_ms(hearing.looks, schedule),
        flush_ms=_ms(hearing.final_heard_ns - schedule.finished_ns) if has_flush else None,
        final_ms=final_ms,
        final_rule_ms=rule_ms,
        final_compute_ms=compute_ms,
        final_delivery_ms=delivery_ms,
        emission_ms=tuple(emission_delays_ms(asked.words, hearing.looks, schedule, asked.language)),
        last_token_ms=_ms(hearing.looks[-1].at_ns - spoken_until_ns) if hearing.looks else None,
        changed_words=changed,
        emitted_words=emitted,
        second_passes_skipped=hearing.second_passes_skipped,
    )


def word_errors(reference: str, text: str, language: str) -> tuple[int, int]:
    """Errors and reference units of one utterance; (0, 0) without a reference."""
    if not reference:
        return 0, 0
    report = score([reference], [text], language)
    return report.errors, report.reference_units


def changes(looks: Sequence[Look]) -> tuple[int, int]:
    """Words that were shown and later changed or taken back, and all words that were shown.

    A word counts once for each time it is shown at its place anew; the ratio is the (in)stability of partials.
    """
    changed = emitted = 0
    before: list[str] = []
    for look in looks:
        words = look.text.split()
        kept = 0
        while kept < min(len(before), len(words)) and before[kept] == words[kept]:
            kept += 1
        changed += len(before) - kept
        emitted += len(words) - kept
        before = words
    return changed, emitted


def emission_delays_ms(
    words: Sequence[AlignedWord], looks: Sequence[Look], schedule: Schedule, language: str
) -> list[float]:
    """For each aligned word that was recognised: when it first stood there for good, after its end in the recording.

    May be negative: a model can be sure of a word before it has ended. Words that were not recognised have no delay.
    """
    if not words or not looks:
        return []
    texts = [_units(look.text, language) for look in looks]
    units = [(unit, index) for index, word in enumerate(words) for unit in _units(word.text, language)]
    settled = _settled_since(texts)
    matcher = difflib.SequenceMatcher(a=[unit for unit, _ in units], b=texts[-1], autojunk=False)
    seen = Counter[int]()
    stood_ns: dict[int, int] = {}
    for match in matcher.get_matching_blocks():
        for offset in range(match.size):
            index = units[match.a + offset][1]
            seen[index] += 1
            stood_ns[index] = max(stood_ns.get(index, 0), looks[settled[match.b + offset]].at_ns)
    needed = Counter(index for _, index in units)
    return [
        _ms(stood_ns[index] - schedule.at(words[index].end_s)) for index in stood_ns if seen[index] == needed[index]
    ]


def _units(text: str, language: str) -> list[str]:
    """Words, or characters, without case and punctuation.

    Not the scorer's own normaliser: that joins spelt numbers, so that a word on its own and in its sentence differ.
    """
    kept = (char if unicodedata.category(char)[0] in "LMN" else " " for char in _APOSTROPHES.sub("", text.casefold()))
    words = "".join(kept).split()
    return list("".join(words)) if metric_of(language) == "cer" else words


def _settled_since(texts: Sequence[Sequence[str]]) -> list[int]:
    """For each word of the last text, the first look from which it stood at its place without a change."""
    last = texts[-1]
    since = [len(texts) - 1] * len(last)
    for index, word in enumerate(last):
        for look in range(len(texts) - 1, -1, -1):
            if index >= len(texts[look]) or texts[look][index] != word:
                break
            since[index] = look
    return since


def _first_partial_ms(looks: Sequence[Look], schedule: Schedule) -> float | None:
    first = next((look for look in looks if look.text), None)
    return None if first is None else _ms(first.at_ns - schedule.at(schedule.onset_s))


def _ms(nanoseconds: int) -> float:
    return round(nanoseconds / 1e6, 3)
