"""Beam search that prefers given phrases without insisting on them: numbers in, a path out; no model, no audio.

Every token of a phrase gains something while the phrase goes on, which is taken back when it breaks off (shallow
fusion). Probabilities of the path that is given back are the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.base import TokenBias
from edge_asr.engines.beam import Path, SearchOptions, StepScorer, log_softmax


@dataclass(frozen=True, slots=True)
class _Way:
    path: Path
    """``state`` is the bias's."""
    total: float
    """Its probability and what it has gained, nats."""


def search_biased(scorer: StepScorer, bias: TokenBias, options: SearchOptions) -> Path:
    """The text that is likeliest with what phrases gain."""
    live = [_Way(Path((), (), 0.0, bias.begin()), 0.0)]
    best: _Way | None = None
    parents, tokens = np.zeros(1, np.int64), np.full(1, options.begin, np.int64)
    while len(tokens):
        scores = log_softmax(scorer.step(parents, tokens))
        best = _best_ended(live, scores, bias, options, best)
        rows, live = _longer_ways(live, scores, bias, options, -np.inf if best is None else best.total - bias.most)
        parents = np.array(rows, np.int64)
        tokens = np.array([way.path.tokens[-1] for way in live], np.int64)
    return best.path if best is not None else Path((), (), 0.0, 0)


def _best_ended(
    live: list[_Way], scores: Float32Array, bias: TokenBias, options: SearchOptions, best: _Way | None
) -> _Way | None:
    for way, row in zip(live, scores, strict=True):
        end_log_prob = float(row[options.end])
        total = way.total + end_log_prob + bias.at_end(way.path.state)
        if best is None or total > best.total:
            best = _Way(Path(way.path.tokens, way.path.log_probs, end_log_prob, way.path.state), total)
    return best


def _longer_ways(
    live: list[_Way], scores: Float32Array, bias: TokenBias, options: SearchOptions, least: float
) -> tuple[list[int], list[_Way]]:
    """The rows that are gone on with, and where they lead; none where all are less than ``least``, or too long."""
    found: list[tuple[float, int, int, int]] = []
    for row, way in enumerate(live):
        if len(way.path.tokens) >= options.most_tokens:
            continue
        gains = bias.gains(way.path.state)
        totals = way.total + scores[row] + np.float32(gains.otherwise)
        totals[gains.tokens] = way.total + scores[row][gains.tokens] + gains.gains
        totals[options.end] = -np.inf
        states = dict(zip(gains.tokens.tolist(), gains.states.tolist(), strict=True))
        likeliest = np.argpartition(-totals, options.width)[: options.width].tolist()
        found += (
            (float(totals[token]), row, token, states.get(token, bias.begin()))
            for token in likeliest
            if totals[token] > least
        )
    found.sort(reverse=True)
    rows, ways = [], []
    for total, row, token, state in found[: options.width]:
        path = live[row].path
        rows.append(row)
        log_probs = (*path.log_probs, float(scores[row][token]))
        ways.append(_Way(Path((*path.tokens, token), log_probs, 0.0, state), total))
    return rows, ways
