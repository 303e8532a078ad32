"""In which order nodes should be quantized further, by what each step saves and what harm it does; pure.

For every node the options that are worth it form a convex chain from float32 to the smallest; the steps of all chains
are merged by harm per saving. Any beginning of the merged list is then the least harmful assignment that saves as much,
if harms add up (Lagrangian relaxation of the multiple-choice knapsack, Sinha & Zoltners 1979).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from edge_asr.quantize.choices import Choice

NodeKey = tuple[str, str]
"""Component and name of a node."""


@dataclass(frozen=True, slots=True)
class Option:
    """One choice for a node."""

    choice: Choice
    cost: float
    """What it takes, size and time weighed together; any unit, the same for all."""
    harm: float
    """Not negative."""


@dataclass(frozen=True, slots=True)
class Step:
    """From one choice of a node to a cheaper one."""

    key: NodeKey
    before: Choice
    after: Choice
    saving: float
    harm: float

    @property
    def price(self) -> float:
        """Harm per saving."""
        return self.harm / self.saving


def steps_of(options: Iterable[tuple[NodeKey, Sequence[Option]]]) -> tuple[Step, ...]:
    """The worthwhile steps of all nodes, the best first.

    Args:
        options: For each node what it is now, first, and what it could become.
    """
    steps = [step for key, own in options for step in _chain(key, own)]
    # Prices along a chain do not fall, so that sorting keeps each chain in its order.
    return tuple(sorted(steps, key=lambda step: (step.price, step.key)))


def assignment_after(steps: Iterable[Step]) -> dict[NodeKey, Choice]:
    """What the nodes are after these steps."""
    chosen: dict[NodeKey, Choice] = {}
    for step in steps:
        chosen[step.key] = step.after
    return chosen


def with_step(taken: Sequence[Step], extra: Step, later: Sequence[Step]) -> tuple[Step, ...] | None:
    """The steps with one more of the same node's chain; ``None`` where an earlier one of its chain is missing."""
    reached = assignment_after(taken)
    begins = next((step for step in (*taken, *later) if step.key == extra.key), extra)
    now = reached.get(extra.key, begins.before)
    return (*taken, extra) if now == extra.before else None


def _chain(key: NodeKey, options: Sequence[Option]) -> list[Step]:
    current, rest = options[0], list(options[1:])
    chain: list[Step] = []
    while True:
        cheaper = [option for option in rest if option.cost < current.cost]
        if not cheaper:
            return chain
        # Of equal prices the one that saves more, so that no useless stop is made.
        best = min(
            cheaper,
            key=lambda option: (
                max(0.0, option.harm - current.harm) / (current.cost - option.cost),
                option.cost,
            ),
        )
        saving, harm = current.cost - best.cost, max(0.0, best.harm - current.harm)
        chain.append(Step(key, current.choice, best.choice, saving, harm))
        current, rest = best, cheaper
