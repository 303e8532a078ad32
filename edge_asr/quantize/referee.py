"""Decides about candidates: decodes them beside the original's transcripts, and asks the statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from edge_asr.errors import EdgeAsrError, InputError
from edge_asr.quantize.accept import (
    EXPECTED_CLUSTERING,
    EXPECTED_DISAGREEMENT,
    UNIT_NAMES,
    Judgement,
    judge,
    units_needed,
)
from edge_asr.quantize.choices import Choice
from edge_asr.quantize.document import Point, Speed, accuracy_of
from edge_asr.quantize.evaluate import Evaluation, Evaluator
from edge_asr.quantize.evaluation_set import EvaluationSet
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.speed import Speeds
from edge_asr.quantize.workshop import Made
from edge_asr.scoring import ScoringReport


def require_decidable(evaluation: EvaluationSet, budget: float) -> None:
    """Refuse an evaluation set that could not show even a good model to be within the budget.

    Raises:
        InputError: With the number of words that is needed, and what it rests on.
    """
    needed = units_needed(budget)
    if evaluation.units >= needed:
        return
    units = UNIT_NAMES[evaluation.metric]
    raise InputError(
        f"the evaluation set has {evaluation.units} {units}, too few to decide about {100 * budget:g} percentage "
        f"points: about {needed} are needed (taking {EXPECTED_DISAGREEMENT:.1%} of them to be recognised differently, "
        f"and errors to come together by a factor of {EXPECTED_CLUSTERING:g}); add recordings, or allow a larger "
        "increase"
    )


@dataclass(slots=True)
class Referee:
    """Compares candidates with one original."""

    evaluator: Evaluator
    original: Evaluation
    budget: float | None
    """Absolute; ``None``: nothing is accepted or refused."""
    progress: Progress
    points: list[Point] = field(default_factory=list)
    """Everything that was judged, in order."""
    judgements: dict[str, Judgement] = field(default_factory=dict)

    def judge(self, made: Made) -> Point:
        """Decode a candidate and compare; one that ends its process, or fails, is a point as well.

        The decoding ends early where the budget is plainly exceeded; it is never cut short to accept.
        """
        self.progress.stage(f"decoding with {made.name}", len(self.evaluator.evaluation.recordings))
        try:
            evaluation = self.evaluator.evaluate(
                made.candidate,
                on_recording=lambda done, _total: self.progress.advance(done),
                stop=self._is_hopeless if self.budget is not None else None,
            )
        except InputError:
            raise
        except EdgeAsrError as error:
            point = Point(
                name=made.name, verdict="failed", size_bytes=made.graph_bytes, nodes=choices_in(made), note=str(error)
            )
        else:
            judgement = self._compare(evaluation)
            self.judgements[made.name] = judgement
            point = Point(
                name=made.name,
                verdict=judgement.verdict if self.budget is not None else "not judged",
                size_bytes=made.graph_bytes,
                nodes=choices_in(made),
                accuracy=accuracy_of(evaluation, judgement),
            )
        self.points.append(point)
        return point

    def point_of_original(self, made: Made) -> Point:
        """The original as a point among the others."""
        return Point(
            name=made.name,
            verdict="original",
            size_bytes=made.graph_bytes,
            nodes={},
            accuracy=accuracy_of(self.original),
        )

    def why_undecided(self, name: str) -> str:
        """What it would take to decide about a candidate, by what was measured."""
        judgement = self.judgements[name]
        assert self.budget is not None
        needed = units_needed(
            self.budget, max(judgement.disagreements, 1) / judgement.units, max(judgement.clustering, 1.0)
        )
        units = UNIT_NAMES[self.evaluator.evaluation.metric]
        return (
            f"{name} is undecided: {judgement.difference:+.2%} with {judgement.interval.low:+.2%} to "
            f"{judgement.interval.high:+.2%}; if it is as good as the original, about {needed} {units} would show it "
            f"({judgement.units} were decoded)"
        )

    def _is_hopeless(self, so_far: Evaluation) -> bool:
        if len(set(self.evaluator.evaluation.blocks[: so_far.report.utterances])) < 2:
            return False  # one recording, or one speaker, proves nothing
        return self._compare(so_far).verdict == "over"

    def _compare(self, evaluation: Evaluation) -> Judgement:
        count = evaluation.report.utterances
        blocks = self.evaluator.evaluation.blocks[:count]
        budget = self.budget if self.budget is not None else 0.0
        return judge(first(self.original.report, count), evaluation.report, blocks, budget)


def first(report: ScoringReport, count: int) -> ScoringReport:
    """A report of the first recordings only, without the split of its errors."""
    if count == report.utterances:
        return report
    return ScoringReport(
        metric=report.metric,
        normaliser=report.normaliser,
        utterances=count,
        substitutions=sum(report.utterance_errors[:count]),
        deletions=0,
        insertions=0,
        reference_units=sum(report.utterance_units[:count]),
        utterance_errors=report.utterance_errors[:count],
        utterance_units=report.utterance_units[:count],
    )


def choices_in(made: Made) -> dict[Choice, int]:
    """How many nodes of each choice a candidate has."""
    total: Counter[Choice] = Counter()
    for counts in made.counts.values():
        total.update(counts.quantized)
    return dict(total)


def with_speeds(points: Sequence[Point], speeds: Speeds, reference: str) -> list[Point]:
    """Points with the speeds that were measured for some of them."""
    return [
        msgspec.structs.replace(point, speed=_speed(point.name, speeds, reference))
        if point.name in speeds.blocks
        else point
        for point in points
    ]


def _speed(name: str, speeds: Speeds, reference: str) -> Speed:
    if name == reference:
        return Speed(rtf_cpu=speeds.rtf_cpu(name), resident_bytes=speeds.resident_bytes[name], ratio=1.0)
    change = speeds.ratio(name, reference)
    interval = change.ratio_interval
    return Speed(
        rtf_cpu=speeds.rtf_cpu(name),
        resident_bytes=speeds.resident_bytes[name],
        ratio=change.ratio,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )
