"""Whether a quantized model is within the budget, by statistics alone; pure.

The budget is an increase of the pooled error rate over the float32 model on the same recordings, absolute. A model is
within it only when the upper end of the 95 % interval of the difference is: paired bootstrap over blocks (Bisani & Ney
2004), a block being a speaker where the evaluation set names them (blockwise bootstrap for correlated utterances, Liu
& Peng 2019, arXiv 1912.09508), else an utterance.

Two models that agree on every word of a small set prove little, and the bootstrap does not know it: it would give an
interval of zero length. So no bound is below ``ln(1 / 0.025) / n``, the rate at which something that was never seen in
``n`` words may still happen, with the confidence of the interval's upper end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from edge_asr.distributions import normal_quantile
from edge_asr.scoring import Metric, ScoringReport
from edge_asr.statistics import CONFIDENCE, Block, Interval, TooFew, paired_change

Verdict = Literal["within", "over", "undecided"]
"""Of the budget: the interval ends below it; it begins above it; the budget lies in it."""

EXPECTED_DISAGREEMENT = 0.005
"""Words, as a share, on which a good quantized model errs and the original does not, or the reverse."""

EXPECTED_CLUSTERING = 1.5
"""Variance of the difference over that of independent words: errors of one utterance come together."""

UNIT_NAMES: dict[Metric, str] = {"wer": "words", "cer": "characters"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a model compares with the original."""

    verdict: Verdict
    before: float
    """Error rate of the original, 0.05 for 5 %."""
    after: float
    difference: float
    """after - before, absolute."""
    interval: Interval
    """Of the difference, 95 %."""
    units: int
    """Words or characters of the references."""
    blocks: int
    disagreements: int
    """Changes of the number of errors, added up over the utterances without their signs."""
    clustering: float
    """Measured, as :data:`EXPECTED_CLUSTERING`; 1 where nothing differs."""


def judge(original: ScoringReport, quantized: ScoringReport, blocks: Sequence[str], budget: float) -> Judgement:
    """Compare two transcriptions of the same recordings.

    Args:
        original: Of the float32 model.
        quantized: Of the other one; the same references in the same order.
        blocks: For each utterance the block it belongs to.
        budget: Absolute increase of the error rate, 0.005 for 0.5 percentage points.

    Raises:
        ValueError: The two do not hold the same references, or there are fewer than two blocks.
    """
    if original.utterance_units != quantized.utterance_units or len(blocks) != original.utterances:
        raise ValueError("only transcriptions of the same recordings can be compared")
    if len(set(blocks)) < 2:
        raise ValueError("at least two blocks are needed to compare models")
    change = paired_change(_blocks(original, blocks), _blocks(quantized, blocks))
    assert not isinstance(change, TooFew)
    unseen = unseen_rate(original.reference_units)
    low, high = change.difference_interval.low, change.difference_interval.high
    interval = Interval(min(low, change.difference - unseen), max(high, change.difference + unseen))
    changes = np.subtract(quantized.utterance_errors, original.utterance_errors)
    return Judgement(
        verdict=_verdict(interval, budget),
        before=change.before,
        after=change.after,
        difference=change.difference,
        interval=interval,
        units=original.reference_units,
        blocks=change.blocks,
        disagreements=int(np.abs(changes).sum()),
        clustering=_clustering(interval, int(np.abs(changes).sum()), original.reference_units),
    )


def unseen_rate(units: int) -> float:
    """The largest rate, with the confidence of one end of the interval, of what was seen in none of so many units.

    ``(1 - p)^n = 0.025`` solved for small p (the "rule of three" at 97.5 %).
    """
    return -math.log((1 - CONFIDENCE) / 2) / units


def units_needed(
    budget: float, disagreement: float = EXPECTED_DISAGREEMENT, clustering: float = EXPECTED_CLUSTERING
) -> int:
    """Units of an evaluation set that can show a model as good as the original to be within the budget.

    The difference of the error counts of two equally good models has variance ``n q c`` over n units of which a share q
    is recognised differently, c telling how much errors come together; half the interval, ``z sqrt(q c / n)``, must not
    exceed the budget: ``n = z² q c / budget²``, and at least what :func:`unseen_rate` asks for.

    Args:
        budget: Absolute, above 0.
        disagreement: q.
        clustering: c.
    """
    z = normal_quantile((1 + CONFIDENCE) / 2)
    return math.ceil(max(z**2 * disagreement * clustering / budget**2, unseen_rate(1) / budget))


def _blocks(report: ScoringReport, blocks: Sequence[str]) -> list[Block]:
    counts = zip(blocks, report.utterance_errors, report.utterance_units, strict=True)
    return [Block(0, block, errors, units) for block, errors, units in counts]


def _verdict(interval: Interval, budget: float) -> Verdict:
    if interval.high <= budget:
        return "within"
    return "over" if interval.low > budget else "undecided"


def _clustering(interval: Interval, disagreements: int, units: int) -> float:
    if not disagreements:
        return 1.0
    half = (interval.high - interval.low) / 2 / normal_quantile((1 + CONFIDENCE) / 2)
    return max(1.0, half**2 * units**2 / disagreements)
