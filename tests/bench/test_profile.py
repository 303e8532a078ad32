"""The runtime's traces, summed up."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from edge_asr.bench.profile import encoder_share, graph_names, parse_trace


def trace(*events: dict[str, Any]) -> bytes:
    return msgspec.json.encode(events)


def run(microseconds: int) -> dict[str, Any]:
    return {"cat": "Session", "name": "model_run", "dur": microseconds, "args": {}}


def node(operator: str, microseconds: int, part: str = "kernel_time") -> dict[str, Any]:
    name = f"/encoder/{operator}_3_{part}"
    return {"cat": "Node", "name": name, "dur": microseconds, "args": {"op_name": operator}}


def test_operators_are_summed_by_kind_and_the_longest_comes_first():
    profile = parse_trace(trace(node("Add", 100), node("MatMul", 700), node("Add", 200)), "encoder")
    assert [(each.operator, each.calls, each.total_ms, each.share) for each in profile.operators] == [
        ("MatMul", 1, 0.7, 0.7),
        ("Add", 2, 0.3, 0.3),
    ]
    assert {each.graph for each in profile.operators} == {"encoder"}


def test_only_the_kernels_themselves_count():
    profile = parse_trace(trace(node("Add", 100), node("Add", 5000, "fence_before")), "encoder")
    assert profile.operators[0].total_ms == 0.1


def product(operator: str, given: list[list[int]], made: list[int], microseconds: int = 100) -> dict[str, Any]:
    """As the runtime lists it: packed weights are no longer among the inputs."""
    event = node(operator, microseconds)
    shapes = {"input_type_shape": [{"float": shape} for shape in given], "output_type_shape": [{"float": made}]}
    return event | {"args": event["args"] | shapes}


def test_products_with_weights_are_kept_by_shape():
    profile = parse_trace(
        trace(
            product("MatMul", [[16, 1, 96]], [16, 1, 192]),
            product("MatMul", [[16, 1, 96]], [16, 1, 192], 300),
            product("DynamicQuantizeMatMul", [[1, 16, 128], [128], []], [1, 16, 64]),
        ),
        "encoder",
    )
    assert [(one.operator, one.rows, one.inputs, one.outputs, one.calls, one.least_ms) for one in profile.products] == [
        ("MatMul", 16, 96, 192, 2, 0.1),
        ("DynamicQuantizeMatMul", 16, 128, 64, 1, 0.1),
    ]


def test_products_of_activations_are_not():
    profile = parse_trace(trace(product("MatMul", [[4, 1, 16, 4], [4, 1, 4, 95]], [4, 1, 16, 95])), "encoder")
    assert profile.products == ()


def test_runs_of_the_graph_are_counted():
    profile = parse_trace(trace(run(1500), node("Add", 100), run(500)), "encoder")
    assert (profile.runs, profile.run_ms) == (2, 2.0)


def test_an_empty_trace_holds_nothing():
    profile = parse_trace(b"[]", "encoder")
    assert (profile.runs, profile.run_ms, profile.operators) == (0, 0.0, ())


def test_what_is_no_trace_is_refused():
    with pytest.raises(ValueError, match="profile of joiner cannot be read"):
        parse_trace(b"{", "joiner")


def profiles(*graphs: tuple[str, int, int]):
    return [parse_trace(trace(*[run(microseconds)] * runs), graph) for graph, runs, microseconds in graphs]


def test_the_encoder_runs_once_a_step():
    # 30 runs of 4 ms, of which 20 belong to the 20 measured steps of 5 ms each.
    assert encoder_share(profiles(("encoder", 30, 4000), ("joiner", 300, 100)), 100.0, 20) == pytest.approx(0.8)


def test_the_share_is_never_more_than_all():
    assert encoder_share(profiles(("encoder", 10, 9000)), 50.0, 10) == 1.0


def test_models_that_do_not_stream_compare_their_graphs():
    share = encoder_share(
        profiles(("preprocessor", 1, 1000), ("encoder", 1, 2000), ("cached_decoder", 10, 100)), 0.0, 0
    )
    assert share == pytest.approx(0.75)


def test_nothing_is_said_without_runs():
    assert encoder_share([], 0.0, 0) is None
    assert encoder_share(profiles(("joiner", 5, 10)), 10.0, 5) is None


def test_traces_belong_to_the_roles_in_order():
    assert graph_names(("tokens", "encoder", "decoder", "joiner", "bpe"), 3) == ["encoder", "decoder", "joiner"]


def test_nothing_is_claimed_where_their_numbers_differ():
    assert graph_names(("encoder", "decoder"), 3) == ["graph 1", "graph 2", "graph 3"]
