"""Word and character error rates: one scorer for every figure of accuracy that this project prints.

Errors are counted over all utterances together and divided once (pooled), never averaged per utterance. Both sides go
through Whisper's normaliser first: the English one for English, the basic one for other languages. Chinese, Japanese
and Korean, whose words are not told apart by spaces, are scored by characters; a word in Latin letters between them is
one unit, as a character is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Literal

Metric = Literal["wer", "cer"]

_BY_CHARACTER = frozenset(("zh", "cmn", "yue", "ja", "ko"))

_LATIN_WORD_OR_CHARACTER = re.compile(r"[A-Za-z\u00c0-\u024f]+|\S")


@dataclass(frozen=True, slots=True)
class ScoringReport:
    """Errors of a set of utterances."""

    metric: Metric
    """``wer``: the units are words; ``cer``: characters, and words in Latin letters."""
    normaliser: str
    """Which one, with its version: figures by different ones cannot be compared."""
    utterances: int
    substitutions: int
    deletions: int
    insertions: int
    reference_units: int
    """Words, or characters and Latin words, of all references, normalised."""
    utterance_errors: tuple[int, ...] = field(default=(), repr=False)
    """Errors of each utterance, in order; what confidence intervals are drawn from."""
    utterance_units: tuple[int, ...] = field(default=(), repr=False)
    """Units of each reference, in order."""

    @property
    def errors(self) -> int:
        """Substitutions, deletions and insertions together."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def error_rate(self) -> float:
        """Errors per unit of the references, 0.05 for 5 %; above 1 when much was inserted.

        Raises:
            ValueError: The references hold nothing, so that there is no rate.
        """
        if not self.reference_units:
            raise ValueError("the references hold no words; an error rate needs at least one")
        return self.errors / self.reference_units


def score(references: Sequence[str], hypotheses: Sequence[str], language: str = "en") -> ScoringReport:
    """Compare transcripts with what was really said.

    Args:
        references: One text per utterance.
        hypotheses: What was recognised, in the same order.
        language: BCP 47 tag; decides normaliser and metric.

    Raises:
        ValueError: There are not as many hypotheses as references.
    """
    if len(references) != len(hypotheses):
        raise ValueError(f"{len(references)} references and {len(hypotheses)} hypotheses cannot be compared")
    counts = [
        _count(normalise(reference, language), normalise(hypothesis, language))
        for reference, hypothesis in zip(references, hypotheses, strict=True)
    ]
    return ScoringReport(
        metric=metric_of(language),
        normaliser=_normaliser_name(language),
        utterances=len(counts),
        substitutions=sum(count.substitutions for count in counts),
        deletions=sum(count.deletions for count in counts),
        insertions=sum(count.insertions for count in counts),
        reference_units=sum(count.units for count in counts),
        utterance_errors=tuple(count.errors for count in counts),
        utterance_units=tuple(count.units for count in counts),
    )


def metric_of(language: str) -> Metric:
    """Whether a language is scored by words or by characters."""
    return "cer" if _primary(language) in _BY_CHARACTER else "wer"


def normalise(text: str, language: str = "en") -> str:
    """A text as the scorer sees it: words (or characters) between single spaces."""
    normalised = _normaliser(language)(text)
    is_by_character = metric_of(language) == "cer"
    return " ".join(_LATIN_WORD_OR_CHARACTER.findall(normalised) if is_by_character else normalised.split())


@dataclass(frozen=True, slots=True)
class _Count:
    substitutions: int
    deletions: int
    insertions: int
    units: int

    @property
    def errors(self) -> int:
        return self.substitutions + self.deletions + self.insertions


def _count(reference: str, hypothesis: str) -> _Count:
    import jiwer

    # Units stand between spaces by now, whichever the metric is.
    compared = jiwer.process_words(reference, hypothesis)
    return _Count(compared.substitutions, compared.deletions, compared.insertions, len(reference.split()))


def _primary(language: str) -> str:
    return language.lower().replace("_", "-").partition("-")[0]


def _normaliser(language: str) -> Callable[[str], str]:
    return _english() if _primary(language) == "en" else _basic()


@functools.cache  # reads a file of the installed package
def _normaliser_name(language: str) -> str:
    kind = "english" if _primary(language) == "en" else "basic"
    if metric_of(language) == "cer":
        kind += ", Latin words whole"
    return f"whisper-normalizer {version('whisper-normalizer')} ({kind})"


@functools.cache
def _english() -> Callable[[str], str]:
    from whisper_normalizer.english import EnglishTextNormalizer

    normaliser: Callable[[str], str] = EnglishTextNormalizer()
    return normaliser


@functools.cache
def _basic() -> Callable[[str], str]:
    from whisper_normalizer.basic import BasicTextNormalizer

    normaliser: Callable[[str], str] = BasicTextNormalizer()
    return normaliser
