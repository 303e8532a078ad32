"""A histogram whose counts come from workers, already in buckets and from each worker's own start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector


class WorkerHistogram(Collector):
    """One histogram with the label ``worker``.

    Args:
        name: Of the metric.
        documentation: Its help.
        bounds: Largest value of each bucket but the last.
        registry: Where it is exposed.
    """

    def __init__(self, name: str, documentation: str, bounds: Sequence[float], registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = [*(f"{bound:g}" for bound in bounds), "+Inf"]
        self._counts: dict[str, list[int]] = {}
        self._totals: dict[str, float] = {}
        self._reported: dict[str, tuple[tuple[int, ...], float]] = {}
        registry.register(self)

    def began(self, worker: str) -> None:
        """A process has started in this worker's place: it counts from zero."""
        self._reported.pop(worker, None)

    def report(self, worker: str, counts: tuple[int, ...], total: float) -> None:
        """What the worker has counted since it began: values in each bucket by itself, and their sum."""
        before, total_before = self._reported.get(worker, ((0,) * len(counts), 0.0))
        own = self._counts.setdefault(worker, [0] * len(self._labels))
        for bucket, (now, then) in enumerate(zip(counts, before, strict=True)):
            own[bucket] += now - then
        self._totals[worker] = self._totals.get(worker, 0.0) + total - total_before
        self._reported[worker] = (counts, total)

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The family, for the registry."""
        family = HistogramMetricFamily(self._name, self._documentation, labels=["worker"])
        for worker, counts in self._counts.items():
            cumulated, buckets = 0, []
            for label, count in zip(self._labels, counts, strict=True):
                cumulated += count
                buckets.append((label, float(cumulated)))
            family.add_metric([worker], buckets, self._totals[worker])
        yield family
