"""The segmented engine under a constraint."""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.base import (
    ConstrainedPath,
    EngineDescription,
    Following,
    Hypothesis,
    OpenEnded,
    StreamOptions,
    Token,
    TokenConstraint,
)
from edge_asr.engines.segmented import SegmentedEngine
from edge_asr.engines.vad import EnergyVoiceActivity
from edge_asr.settings import EngineSettings

RATE = 16_000
DESCRIPTION = EngineDescription("m", "moonshine", "cpu", 1, RATE, 0.0, 0.0, is_streaming=False)


class Anything:
    def begin(self) -> int:
        return 0

    def following(self, _state: int) -> Following:
        return Following(np.zeros(0, np.int64), np.zeros(0, np.int64))

    def may_end(self, _state: int) -> bool:
        return False


class Decoder:
    """Remembers under what it was asked to decode."""

    sample_rate_hz = RATE
    max_segment_s = 30.0

    def __init__(self) -> None:
        self.constraints: list[TokenConstraint | None] = []

    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:
        self.constraints.append(constraint)
        path = ConstrainedPath("go", (Token(" go", 0.1, -0.5),), -0.5, -0.4) if constraint else None
        return Hypothesis("gone", (Token(" gone", 0.1, -0.4),), len(samples), path=path)


def heard(engine: SegmentedEngine, options: StreamOptions) -> Hypothesis:
    """Half a second of silence, two of noise, one of silence."""
    noise = 0.2 * np.random.default_rng(0).standard_normal(2 * RATE)
    stream = engine.open_stream(options)
    stream.accept(np.concatenate([np.zeros(RATE // 2), noise, np.zeros(RATE)]).astype(np.float32))
    stream.finish()
    while stream.is_ready():
        engine.decode([stream])
    return stream.hypothesis()


def engine_of(decoder: Decoder, constrained: Decoder | None = None) -> SegmentedEngine:
    opened = (lambda: constrained) if constrained else None
    activity = EnergyVoiceActivity
    return SegmentedEngine(decoder, DESCRIPTION, EngineSettings(), lambda _: activity(), open_constrained=opened)


def test_the_end_of_a_stretch_is_decoded_under_the_constraint_and_its_beginning_under_an_open_ended_one():
    decoder, constraint = Decoder(), Anything()
    heard(engine_of(decoder), StreamOptions(constraint=constraint))
    assert decoder.constraints[-1] is constraint
    assert all(isinstance(used, OpenEnded) for used in decoder.constraints[:-1])
    assert len(decoder.constraints) > 1


def test_times_of_the_path_are_those_of_the_stream():
    found = heard(engine_of(Decoder()), StreamOptions(constraint=Anything()))
    assert found.path is not None
    assert found.path.tokens[0].start_s == found.tokens[0].start_s > 0.1


def test_what_decodes_under_constraints_is_only_loaded_when_one_is_asked_for():
    plain, constrained = Decoder(), Decoder()
    engine = engine_of(plain, constrained)
    assert heard(engine, StreamOptions()).path is None
    assert constrained.constraints == []
    assert heard(engine, StreamOptions(constraint=Anything())).path is not None
    assert None not in constrained.constraints
