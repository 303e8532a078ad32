"""``auto``: the smallest model within the budget that is also no slower than the usual int8.

1. The usual int8 is made and judged: the yardstick for size, accuracy and speed.
2. Every node is quantized alone, and what that does to the posteriors is its harm (``sensitivity.py``).
3. Nodes and choices are put in order, the least harm for what they save first (``plan.py``).
4. How far one may go along that order is found by bisection; every point is decoded by the real engine, and only the
   interval of its error rate decides (``accept.py``).
5. Where the budget stops it, rescues are tried: clipping, bias correction, smoothing, other rounding, a penalty for the
   blank (``treatment.py``).
6. Steps beyond the end are tried one by one: the order is by estimates, and one bad step must not hide good ones.

Without an evaluation set nothing can be accepted by its errors. Then a point may not diverge further from the original
than the recipe ``int8`` does, and the result says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from edge_asr.quantize.bisection import furthest
from edge_asr.quantize.choices import Choice, Node, WeightAlgorithm, WeightOptions
from edge_asr.quantize.costs import (
    MeasuredProduct,
    costs_by_measuring,
    costs_by_table,
    costs_on_board,
    matrix_of_node,
    rows_of,
)
from edge_asr.quantize.document import Point
from edge_asr.quantize.feedback import Moments
from edge_asr.quantize.frontier import NodeKey, Step, assignment_after, with_step
from edge_asr.quantize.graph import Quantized, quantizable_nodes
from edge_asr.quantize.moments import measure_moments
from edge_asr.quantize.plan import plan
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.recipes import PRODUCTS
from edge_asr.quantize.sensitivity import Comparer, Harms, choices_to_measure, listeners_for, measure_harms
from edge_asr.quantize.targets import Target
from edge_asr.quantize.treatment import RESCUES, Treatment, rescue_of, treat
from edge_asr.quantize.twins import twins_of, with_twins
from edge_asr.quantize.workshop import Made, Workshop

EXTRA_TRIES = 5
"""Steps beyond the end that are tried."""

WORTH_WHILE = 0.03
"""Of the harm a rescue must take away before it is decoded."""

ALGORITHMS: tuple[WeightAlgorithm, ...] = ("rtn", "hqq", "k-quant", "gptq")
"""Ways to find integers that are compared before anything else."""

MOST_MOMENT_BYTES = 1 << 30
"""Of what ``gptq`` needs to know; where it is more, the other ways must do."""


class Judge(Protocol):
    """Accepts or refuses a candidate."""

    def judge(self, made: Made) -> Point:
        """The candidate as a point; ``within`` is accepted."""


@dataclass(slots=True)
class Searched:
    """What the search found."""

    accepted: list[Made] = field(default_factory=list)
    behind: list[Made] = field(default_factory=list)
    """Within the budget, and with more errors than the usual int8."""
    harms: Harms = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    assignments: dict[str, dict[NodeKey, Choice]] = field(default_factory=dict)
    """Name of a candidate to what was done."""
    treatment: Treatment = field(default_factory=Treatment)
    """In force at the end of the search."""
    treatments: dict[str, Treatment] = field(default_factory=dict)
    """Name of a candidate to the treatment it got."""
    rescues: list[str] = field(default_factory=list)
    """What was done beyond choosing, a sentence each."""


def minutes(seconds: float) -> str:
    """A duration, roughly."""
    return f"about {seconds:.0f} s" if seconds < 90 else f"about {seconds / 60:.0f} min"


class Search:
    """One search; what it finds is in :attr:`found`."""

    def __init__(
        self,
        workshop: Workshop,
        ear: Comparer,
        target: Target,
        judge: Judge,
        folder: Path,
        progress: Progress,
        *,
        kept: Collection[str] = (),
        measures_time: bool = False,
        board_times: Sequence[MeasuredProduct] = (),
        spare_s: float = 0.0,
        decode_s: float = 0.0,
    ) -> None:
        """Prepare.

        Args:
            workshop: Makes the candidates.
            ear: Measures divergence.
            target: The board.
            judge: Decides.
            folder: Where what was measured is written down.
            progress: Hears of it.
            kept: Components that stay float32.
            measures_time: Whether this machine is the target, so that products can be timed here.
            board_times: What products took on the target, where it was measured there.
            spare_s: How much longer a step of the recipe ``int8`` may take without being slower than the usual int8.
            decode_s: What judging a candidate takes, for the estimate.
        """
        self._workshop = workshop
        self._ear = ear
        self._target = target
        self._judge = judge
        self._folder = folder
        self._progress = progress
        self._measures_time = measures_time
        self._board_times = board_times
        self._spare_s = spare_s
        self._decode_s = decode_s
        self._moments: dict[str, dict[str, Moments]] = {}
        self.found = Searched(
            nodes=[
                node
                for role, prepared in workshop.components.items()
                if role not in kept
                for node in quantizable_nodes(prepared, role, target)
            ]
        )
        self._twins = twins_of(self.found.nodes)
        self._leaders = [node for node in self.found.nodes if (node.component, node.name) in self._twins]

    def run(self) -> Searched:
        """Search.

        Raises:
            EdgeAsrError: The machine or the model cannot do it; what was measured is kept on disk.
        """
        self._moments = self._measure_moments()
        self.found.treatment = Treatment(weights=WeightOptions(algorithm=self._best_algorithm()))
        self._estimate()
        self.found.harms = measure_harms(
            self._ear,
            self._workshop,
            self._leaders,
            self._twins,
            self.found.treatment.weights,
            self._moments,
            self._folder,
            self._progress,
        )
        steps, weight = self._plan()
        decodings = math.ceil(math.log2(len(steps) + 1)) + EXTRA_TRIES
        self._progress.say(f"at most about {decodings} models to judge, {minutes(decodings * self._decode_s)}")
        self._progress.say(
            f"{len(self._leaders)} nodes, {len(steps)} steps; a share of time counts {weight:g} times one of size"
        )
        end = furthest(len(steps), lambda count: self._is_accepted(f"auto-{count}", steps[:count]))
        end = self._rescue(steps, end)
        self._try_beyond(steps, end)
        return self.found

    def _estimate(self) -> None:
        began_s = time.monotonic()
        self._ear.compare({}, quickly=True)
        one_s = time.monotonic() - began_s
        seconds = one_s * choices_to_measure(self._leaders) / listeners_for(self._workshop)
        self._progress.say(f"measuring {len(self._leaders)} nodes will take {minutes(seconds)}")

    def _plan(self) -> tuple[tuple[Step, ...], float]:
        nodes = self._leaders
        rows = rows_of(self._workshop.components, nodes, self._ear.steps)
        if self._board_times:
            return plan(nodes, self.found.harms, costs_on_board(nodes, rows, self._target, self._board_times))
        if not self._measures_time:
            return plan(nodes, self.found.harms, costs_by_table(nodes, rows, self._target))
        costs = costs_by_measuring(nodes, rows, self._progress)
        recipe = sum(costs.of(node, "int8" if node.operator in PRODUCTS else "fp32") for node in nodes)
        return plan(nodes, self.found.harms, costs, max(recipe + self._spare_s, 0.0))

    def _measure_moments(self) -> dict[str, dict[str, Moments]]:
        """What ``gptq`` needs; nothing where it is too much, or a node was not reached."""
        wanted = [node for node in self.found.nodes if "weight4" in node.choices]
        needed = sum(4 * matrix_of_node(node)[0] ** 2 for node in wanted)
        if needed > MOST_MOMENT_BYTES:
            self._progress.say(f"gptq is left out: it would need {needed >> 20} MiB")
            return {}
        moments = {}
        for role, prepared in self._workshop.components.items():
            names = [node.name for node in wanted if node.component == role]
            moments[role] = measure_moments(prepared, names, partial(self._ear.steps, role)) if names else {}
            if moments[role].keys() != set(names):
                return {}
        return moments

    def _best_algorithm(self) -> WeightAlgorithm:
        """Of the ways to turn weights into 4 bits, the one whose model diverges least."""
        chosen: dict[NodeKey, Choice] = {
            (node.component, node.name): "weight4" for node in self.found.nodes if "weight4" in node.choices
        }
        if not chosen:
            return "rtn"
        possible = ALGORITHMS if self._moments else ALGORITHMS[:-1]
        self._progress.stage("comparing ways to round", len(possible))
        harms: dict[WeightAlgorithm, float] = {}
        for number, algorithm in enumerate(possible, 1):
            harms[algorithm] = self._harm(chosen, Treatment(weights=WeightOptions(algorithm=algorithm)))
            self._progress.advance(number)
        return min(harms, key=lambda algorithm: harms[algorithm])

    def _quantized(self, chosen: Mapping[NodeKey, Choice], treatment: Treatment) -> dict[str, Quantized]:
        chosen = with_twins(chosen, self._twins)
        return treat(self._workshop.components, chosen, treatment, self._ear, self._moments)

    def _harm(self, chosen: Mapping[NodeKey, Choice], treatment: Treatment) -> float:
        quantized = self._quantized(chosen, treatment)
        return self._ear.compare({role: one.model for role, one in quantized.items()}).harm

    def _is_accepted(self, name: str, steps: Sequence[Step]) -> bool:
        chosen = assignment_after(steps)
        treatment = self.found.treatment
        made = self._workshop.make(name, self._quantized(chosen, treatment), treatment.blank_penalty)
        self.found.assignments[name] = with_twins(chosen, self._twins)
        self.found.treatments[name] = treatment
        verdict = self._judge.judge(made).verdict
        if verdict == "within":
            self.found.accepted.append(made)
        elif verdict == "behind":
            self.found.behind.append(made)
        else:
            self._workshop.discard(made)
        return verdict == "within"

    def _rescue(self, steps: Sequence[Step], end: int) -> int:
        """Try what may carry the search further, one thing after the other; what helps stays."""
        for name in RESCUES:
            if name == "blank" and self._ear.blank is None:
                continue
            if end == len(steps):
                break
            wanted = end + max(1, (len(steps) - end) // 4)
            chosen = assignment_after(steps[:wanted])
            rescue = rescue_of(name, self.found.treatment)
            self._progress.stage(f"trying a rescue: {name}", len(rescue.treatments))
            before = self._harm(chosen, self.found.treatment)
            harms = [self._harm(chosen, treatment) for treatment in rescue.treatments]
            best = min(range(len(harms)), key=harms.__getitem__)
            if harms[best] > before * (1 - WORTH_WHILE):
                continue
            untreated, self.found.treatment = self.found.treatment, rescue.treatments[best]
            reached = self._reach(name, steps, end, wanted)
            if reached == end:
                self.found.treatment = untreated
                continue
            self.found.rescues.append(f"{rescue.sentence}: {reached} steps instead of {end}")
            end = reached
        return end

    def _reach(self, name: str, steps: Sequence[Step], end: int, wanted: int) -> int:
        def accepts(count: int) -> bool:
            return self._is_accepted(f"auto-{count}-{name}", steps[:count])

        if not accepts(wanted):
            return end
        return furthest(len(steps), accepts, known=wanted)

    def _try_beyond(self, steps: Sequence[Step], end: int) -> None:
        """Take later steps, those first that save most for their harm, without the one that was too much."""
        taken: tuple[Step, ...] = tuple(steps[:end])
        later = list(steps[end + 1 :])
        for number in range(1, EXTRA_TRIES + 1):
            possible = [more for step in later if (more := with_step(taken, step, steps)) is not None]
            if not possible:
                return
            more = max(possible, key=lambda one: one[-1].saving)
            later.remove(more[-1])
            if self._is_accepted(f"auto-{end}-{number}", more):
                taken = more
