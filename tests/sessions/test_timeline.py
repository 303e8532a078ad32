from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_asr.sessions.timeline import Timeline


def test_without_losses_both_counts_agree() -> None:
    assert Timeline().to_client(1600) == 1600


def test_a_loss_shifts_everything_after_it_and_nothing_before() -> None:
    timeline = Timeline()
    timeline.shift(1000, 500)
    assert (timeline.to_client(999), timeline.to_client(1000), timeline.to_client(2000)) == (999, 1500, 2500)


def test_losses_at_one_place_add_up() -> None:
    timeline = Timeline()
    timeline.shift(0, 100)
    timeline.shift(0, 20)
    assert timeline.to_client(0) == 120


def test_a_fresh_stream_begins_at_the_clients_position() -> None:
    timeline = Timeline()
    timeline.shift(1000, 500)
    timeline.begin_stream(4000)
    assert timeline.to_client(10) == 4010


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 1000)), max_size=10), st.integers(0, 12_000))
def test_forgetting_the_past_changes_nothing_later(losses: list[tuple[int, int]], query: int) -> None:
    whole, pruned, position = Timeline(), Timeline(), 0
    for step, lost in losses:
        position += step
        whole.shift(position, lost)
        pruned.shift(position, lost)
    pruned.forget_before(query)
    assert pruned.to_client(query) == whole.to_client(query)
    assert pruned.to_client(query + 5000) == whole.to_client(query + 5000)
