from hypothesis import given
from hypothesis import strategies as st

from edge_asr.quantize.bisection import furthest
from edge_asr.quantize.frontier import Option, Step, assignment_after, steps_of, with_step

A, B = ("encoder", "a"), ("encoder", "b")


def fp32(cost: float) -> Option:
    return Option("fp32", cost, 0.0)


def test_harmless_savings_come_first():
    steps = steps_of([(A, [fp32(100), Option("int8", 25, 7.5)]), (B, [fp32(100), Option("int8", 25, 0.75)])])
    assert [(step.key, step.price) for step in steps] == [(B, 0.01), (A, 0.1)]


def test_a_node_goes_down_in_steps_that_get_dearer():
    (first, second) = steps_of([(A, [fp32(100), Option("weight4", 15, 5.0), Option("int8", 25, 0.5)])])
    assert (first.before, first.after, second.before, second.after) == ("fp32", "int8", "int8", "weight4")
    assert (second.saving, second.harm) == (10, 4.5)


def test_a_choice_that_is_never_best_is_skipped():
    options = [fp32(100), Option("int8", 25, 5.0), Option("weight4", 15, 1.0)]
    assert [step.after for step in steps_of([(A, options)])] == ["weight4"]


def test_a_choice_that_costs_more_than_float32_is_never_taken():
    assert steps_of([(A, [fp32(10), Option("weight4", 12, 0.0)])]) == ()


def test_the_steps_taken_decide_what_a_node_is():
    steps = steps_of([(A, [fp32(100), Option("weight4", 15, 5.0), Option("int8", 25, 0.5)])])
    assert assignment_after(steps[:1]) == {A: "int8"}
    assert assignment_after(steps) == {A: "weight4"}
    assert assignment_after(()) == {}


def test_a_step_can_be_taken_out_of_turn_unless_its_chain_is_broken():
    steps = steps_of(
        [
            (A, [fp32(100), Option("int8", 25, 0.0), Option("weight4", 15, 5.0)]),
            (B, [fp32(100), Option("int8", 25, 3.0), Option("weight4", 15, 9.0)]),
        ]
    )
    to_int8, to_weight4 = (
        next(step for step in steps if step.key == B and step.after == name) for name in ("int8", "weight4")
    )
    taken, later = steps[:1], steps[1:]
    assert with_step(taken, to_int8, later) == (*taken, to_int8)
    assert with_step(taken, to_weight4, later) is None


@given(st.lists(st.tuples(st.floats(1, 99), st.floats(0, 10)), min_size=1, max_size=6))
def test_prices_along_a_chain_never_fall(options: list[tuple[float, float]]):
    steps = steps_of([(A, [fp32(100), *(Option("int8", cost, harm) for cost, harm in options)])])
    prices = [step.price for step in steps]
    assert prices == sorted(prices)
    assert all(isinstance(step, Step) and step.saving > 0 for step in steps)


@given(last=st.integers(0, 200), end=st.integers(0, 200), known=st.integers(0, 200))
def test_the_furthest_step_is_found_and_nothing_asked_twice(last: int, end: int, known: int):
    end = max(end, known)
    asked: list[int] = []

    def accepts(count: int) -> bool:
        asked.append(count)
        return count <= end

    assert furthest(last, accepts, known=known) == max(known, min(last, end))
    assert len(asked) == len(set(asked))
    assert all(count > known for count in asked)
