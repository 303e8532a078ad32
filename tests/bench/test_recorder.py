"""What the recording engine remembers of its steps."""

from edge_asr.bench.rig import Notebook
from edge_asr.engines.base import StreamOptions
from tests.bench.rigs import RATE_HZ, Bench, Costs, bench
from tests.bench.rigs import clip as recording


def decoded(made: Bench, audio_s: float, *, finishes: bool = False) -> None:
    """One stream, given all its audio at once and decoded as far as it goes."""
    engine = made.rig.engine
    stream = engine.open_stream(StreamOptions())
    stream.accept(recording(audio_s).samples.astype("float32"))
    if finishes:
        stream.finish()
    while stream.is_ready():
        engine.decode([stream])


def test_a_step_is_as_long_as_its_computing():
    made = bench(costs=Costs(decode=30))
    made.rig.engine.expect(lambda _position_s: made.clock.now_ns())
    decoded(made, 0.2)
    assert [step.compute_ms for step in made.rig.engine.steps.items()] == [30, 30]


def test_latency_runs_from_the_release_of_the_audio():
    made = bench(costs=Costs(decode=30))
    released_ns = made.clock.now_ns() - 5_000_000
    made.rig.engine.expect(lambda _position_s: released_ns)
    decoded(made, 0.1)
    assert made.rig.engine.steps.items()[0].latency_ms == 35


def test_the_release_is_asked_for_by_the_audio_taken():
    made = bench()
    asked: list[float] = []

    def released_at(position_s: float) -> int:
        asked.append(position_s)
        return made.clock.now_ns()

    made.rig.engine.expect(released_at)
    decoded(made, 0.25)
    assert asked == [0.25, 0.25]


def test_streams_that_nobody_expects_leave_no_steps():
    made = bench()
    made.rig.engine.expect(None)
    decoded(made, 0.5)
    assert made.rig.engine.steps.count == 0
    assert made.rig.engine.decoded_s == 0


def test_steps_of_padding_are_decoded_and_not_timed():
    made = bench(look_ahead_ms=100)
    made.rig.engine.expect(lambda _position_s: made.clock.now_ns())
    decoded(made, 0.3, finishes=True)
    assert made.rig.engine.decoded_steps == 3
    assert made.rig.engine.steps.count == 0


def test_steps_longer_than_the_chunk_are_counted_as_missed():
    made = bench(costs=Costs(decode=100.5))
    made.rig.engine.expect(lambda _position_s: made.clock.now_ns() - 100_500_000)
    decoded(made, 0.3)
    assert made.rig.engine.missed == 3
    made.engine.costs.decode = 99
    made.rig.engine.expect(lambda _position_s: made.clock.now_ns() - 99_000_000)
    decoded(made, 0.3)
    assert made.rig.engine.missed == 3


def test_counts_and_extremes_are_exact_where_steps_are_thinned():
    costs = Costs(decode=10)
    made = bench(costs=costs, notebook=Notebook(most_steps=4))
    made.rig.engine.expect(lambda _position_s: made.clock.now_ns())
    decoded(made, 2.0)
    costs.decode = 70
    decoded(made, 0.1)
    costs.decode = 10
    decoded(made, 2.0)
    engine = made.rig.engine
    assert (engine.steps.count, len(engine.steps.items())) == (41, 4)
    assert engine.compute_max_ms == 70


def test_forgetting_begins_anew():
    made = bench(costs=Costs(decode=200))
    made.rig.engine.expect(lambda _position_s: 0)
    decoded(made, 1.0)
    made.rig.engine.forget()
    engine = made.rig.engine
    assert (engine.steps.count, engine.missed, engine.latency_max_ms, engine.decoded_s) == (0, 0, 0, 0)


def test_audio_of_expected_streams_is_counted():
    made = bench()
    made.rig.engine.expect(lambda _position_s: 0)
    decoded(made, 0.7)
    assert made.rig.engine.decoded_s == 0.7
    assert made.rig.engine.sample_rate_hz == RATE_HZ
