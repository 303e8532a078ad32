"""Judges candidates of a search: by their errors where there are recordings with texts, else by their posteriors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import msgspec

from edge_asr.quantize.divergence import Divergence
from edge_asr.quantize.document import Point, PointVerdict
from edge_asr.quantize.referee import Referee, choices_in
from edge_asr.quantize.sensitivity import Comparer
from edge_asr.quantize.workshop import Made, graph_files
from edge_asr.store.store import InstalledModel


@dataclass(slots=True)
class Panel:
    """The ear, and the referee if there is one."""

    ear: Comparer
    referee: Referee | None
    limit: float = math.inf
    """Harm that is accepted where there is no referee."""
    most_errors: int | None = None
    """Errors of the usual int8: a model with more of them is behind it; ``None``: that does not matter."""
    _points: list[Point] = field(default_factory=list)

    def judge(self, made: Made) -> Point:
        """A candidate as a point."""
        divergence = self.divergence(made)
        if self.referee is not None:
            point = self.referee.judge(made)
            if self.referee.budget is None and point.verdict == "not judged":
                # Nobody said how much may be lost: nothing that can be told from the original.
                point = msgspec.structs.replace(point, verdict=self._by_divergence(divergence))
        else:
            point = Point(
                name=made.name,
                verdict=self._by_divergence(divergence),
                size_bytes=made.graph_bytes,
                nodes=choices_in(made),
            )
        if point.verdict == "within" and self._is_behind(point):
            point = msgspec.structs.replace(point, verdict="behind")
        point = msgspec.structs.replace(point, divergence=divergence.nats)
        self._points.append(point)
        return point

    def divergence(self, made: Made) -> Divergence:
        """Of its posteriors from the original's."""
        return self.ear.compare(graph_files(InstalledModel(made.candidate.manifest, made.candidate.directory)))

    def points(self, original: Made) -> list[Point]:
        """The original and everything that was judged, in order."""
        if self.referee is not None:
            return [self.referee.point_of_original(original), *self._points]
        nodes = choices_in(original)
        return [
            Point(name=original.name, verdict="original", size_bytes=original.graph_bytes, nodes=nodes, divergence=0.0),
            *self._points,
        ]

    def _is_behind(self, point: Point) -> bool:
        return self.most_errors is not None and point.accuracy is not None and point.accuracy.errors > self.most_errors

    def _by_divergence(self, divergence: Divergence) -> PointVerdict:
        return "within" if divergence.harm <= self.limit else "over"
