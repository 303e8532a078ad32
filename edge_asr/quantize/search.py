"""``auto``: the smallest model within the budget that is also no slower than the usual int8.

1. The usual int8 is made and judged: the yardstick for size, accuracy and speed.
2. Every node is quantized alone, and what that does to the posteriors is its harm (``sensitivity.py``).
3. Nodes and choices are put in order, the least harm for what they save first (``frontier.py``).
4. How far one may go along that order is found by bisection; every point is decoded by the real engine, and only the
   interval of its error rate decides (``accept.py``).
5. Steps beyond the end are tried one by one: the order is by estimates, and one bad step must not hide good ones.

Without an evaluation set nothing can be accepted by its errors. Then a point may not diverge further from the original
than the recipe ``int8`` does, and the result says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from edge_asr.quantize.bisection import furthest
from edge_asr.quantize.choices import Choice, Node, WeightAlgorithm, WeightOptions, of_component
from edge_asr.quantize.document import Point
from edge_asr.quantize.frontier import NodeKey, Option, Step, assignment_after, steps_of, with_step
from edge_asr.quantize.graph import Quantized, apply_assignment, quantizable_nodes
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.sensitivity import Ear, Harms, measure_harms
from edge_asr.quantize.targets import Target
from edge_asr.quantize.workshop import Made, Workshop

ROWS = 16
"""Frames that a product of the encoder sees at once, for the cost of a step; the order depends little on it."""

TIME_WEIGHTS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""How much a saved cycle counts beside a saved byte, both as shares of the whole; the first that keeps the target's
predicted time at or below that of the usual int8 is taken."""

EXTRA_TRIES = 3
"""Steps beyond the end that are tried."""

_ALGORITHMS: tuple[WeightAlgorithm, ...] = ("rtn", "hqq", "k-quant")

BYTES: Mapping[Choice, float] = {"fp32": 4.0, "fp16": 2.0, "int8": 1.0, "weight8": 1.125, "weight4": 0.625}
"""In the file, for each weight; blocks of 32 have a float32 scale."""


class Judge(Protocol):
    """Accepts or refuses a candidate."""

    def judge(self, made: Made) -> Point:
        """The candidate as a point; ``within`` is accepted."""


@dataclass(slots=True)
class Searched:
    """What the search found."""

    accepted: list[Made] = field(default_factory=list)
    harms: Harms = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    assignments: dict[str, dict[NodeKey, Choice]] = field(default_factory=dict)
    """Name of a candidate to what was done."""
    weights: WeightOptions = field(default_factory=WeightOptions)
    rescues: list[str] = field(default_factory=list)
    """What was done beyond choosing, a sentence each."""


def plan(nodes: Sequence[Node], harms: Harms, target: Target) -> tuple[tuple[Step, ...], float]:
    """The order of steps for a target.

    Args:
        nodes: All of them.
        harms: Of each choice that was measured.
        target: The board.

    Returns:
        The steps, and the weight of time that was needed.
    """
    usual = sum(_cycles(node, "int8" if node.operator == "MatMul" else "fp32", target) for node in nodes)
    steps: tuple[Step, ...] = ()
    for weight in TIME_WEIGHTS:
        steps = steps_of(
            [((node.component, node.name), _options(node, nodes, harms, target, weight)) for node in nodes]
        )
        chosen = assignment_after(steps)
        cycles = sum(_cycles(node, chosen.get((node.component, node.name), "fp32"), target) for node in nodes)
        if cycles <= usual * (1 + 1e-9):
            return steps, weight
    return steps, TIME_WEIGHTS[-1]


def _options(node: Node, nodes: Sequence[Node], harms: Harms, target: Target, time_weight: float) -> list[Option]:
    all_bytes = sum(one.weight_bytes for one in nodes)
    all_cycles = sum(_cycles(one, "fp32", target) for one in nodes)

    def cost(choice: Choice) -> float:
        size = node.weight_bytes / 4 * BYTES[choice] / all_bytes
        return size + time_weight * _cycles(node, choice, target) / all_cycles

    measured = harms.get((node.component, node.name), {})
    return [
        Option("fp32", cost("fp32"), 0.0),
        *(Option(choice, cost(choice), max(0.0, found.harm)) for choice, found in measured.items()),
    ]


def _cycles(node: Node, choice: Choice, target: Target) -> float:
    if node.operator == "Gather":
        return 0.0
    rows = 1 if node.component in ("decoder", "joiner") else ROWS
    return target.cost(choice, node.weight_shape, rows)


class Search:
    """One search; what it finds is in :attr:`found`."""

    def __init__(
        self,
        workshop: Workshop,
        ear: Ear,
        target: Target,
        judge: Judge,
        folder: Path,
        progress: Progress,
        kept: Collection[str] = (),
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
        """
        self._workshop = workshop
        self._ear = ear
        self._target = target
        self._judge = judge
        self._folder = folder
        self._progress = progress
        self.found = Searched(
            nodes=[
                node
                for role, prepared in workshop.components.items()
                if role not in kept
                for node in quantizable_nodes(prepared, role, target)
            ]
        )

    def run(self) -> Searched:
        """Search.

        Raises:
            EdgeAsrError: The machine or the model cannot do it; what was measured is kept on disk.
        """
        self.found.weights = WeightOptions(algorithm=self._best_algorithm())
        self.found.harms = measure_harms(
            self._ear, self._workshop, self.found.nodes, self.found.weights, self._folder, self._progress
        )
        steps, weight = plan(self.found.nodes, self.found.harms, self._target)
        self._progress.say(
            f"{len(self.found.nodes)} nodes, {len(steps)} steps; a saved cycle counts {weight:g} times a saved byte"
        )
        end = furthest(len(steps), lambda count: self._is_accepted(f"auto-{count}", steps[:count]))
        self._try_beyond(steps, end)
        return self.found

    def _best_algorithm(self) -> WeightAlgorithm:
        """Of those that turn weights into 4 bits, the one whose model diverges least; no audio but a few seconds."""
        chosen: dict[NodeKey, Choice] = {
            (node.component, node.name): "weight4" for node in self.found.nodes if "weight4" in node.choices
        }
        if not chosen:
            return "rtn"
        self._progress.stage("comparing ways to round", len(_ALGORITHMS))
        harms: dict[WeightAlgorithm, float] = {}
        for number, algorithm in enumerate(_ALGORITHMS, 1):
            quantized = self.quantized(chosen, WeightOptions(algorithm=algorithm))
            harms[algorithm] = self._ear.compare({role: one.model for role, one in quantized.items()}).harm
            self._progress.advance(number)
        return min(harms, key=lambda algorithm: harms[algorithm])

    def quantized(self, chosen: Mapping[NodeKey, Choice], weights: WeightOptions) -> dict[str, Quantized]:
        """Every component with its part of an assignment."""
        return {
            role: apply_assignment(prepared, role, of_component(chosen, role), weights=weights)
            for role, prepared in self._workshop.components.items()
        }

    def _is_accepted(self, name: str, steps: Sequence[Step]) -> bool:
        chosen = assignment_after(steps)
        made = self._workshop.make(name, self.quantized(chosen, self.found.weights))
        self.found.assignments[name] = chosen
        if self._judge.judge(made).verdict != "within":
            return False
        self.found.accepted.append(made)
        return True

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
