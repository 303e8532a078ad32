"""Where the runtime's time goes, operator by operator: ONNX Runtime's own trace, summed up. Pure.

ONNX Runtime writes one trace per session (Chrome's trace event format): an event ``model_run`` per run and, for each
operator in it, an event ``NAME_kernel_time`` with the operator's kind in ``args.op_name``; durations are microseconds.
Tracing slows small operators, so shares are trusted and absolute times are not.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from edge_asr.bench.document import OperatorTime, ProductTime

FLOAT_PRODUCTS = frozenset(("MatMul", "Gemm", "FusedMatMul", "FusedGemm"))
PRODUCTS = FLOAT_PRODUCTS | {
    *("DynamicQuantizeLinear", "DynamicQuantizeMatMul", "MatMulInteger", "MatMulIntegerToFloat", "MatMulNBits")
}
"""Operators whose times are kept by shape."""

ENCODER_GRAPHS = frozenset(("encoder", "model", "preprocessor"))
"""Roles whose time counts as the encoder's; that of all others is the decoder's."""


@dataclass(frozen=True, slots=True)
class GraphProfile:
    """One graph's trace."""

    graph: str
    """Role of the file."""
    runs: int
    run_ms: float
    """All runs together."""
    operators: tuple[OperatorTime, ...]
    """The longest first."""
    products: tuple[ProductTime, ...] = ()
    """Of activations with weights, in the order in which they first ran."""


def parse_trace(content: bytes, graph: str) -> GraphProfile:
    """Sum up a trace; one that was cut short (the runtime stops after a million events) counts up to there.

    Args:
        content: The file.
        graph: Role of the model file it is the trace of.

    Raises:
        ValueError: It is no trace.
    """
    try:
        events: list[dict[str, Any]] = msgspec.json.decode(content, type=list[dict[str, Any]])
    except msgspec.DecodeError as error:
        raise ValueError(f"the operator profile of {graph} cannot be read: {error}") from error
    runs = [event for event in events if event.get("name") == "model_run"]
    calls: dict[str, int] = defaultdict(int)
    times_ms: dict[str, float] = defaultdict(float)
    kernels = [
        event for event in events if event.get("cat") == "Node" and str(event.get("name", "")).endswith("_kernel_time")
    ]
    for event in kernels:
        operator = str(event.get("args", {}).get("op_name", "?"))
        calls[operator] += 1
        times_ms[operator] += event["dur"] / 1000
    total_ms = sum(times_ms.values()) or 1.0
    ordered = sorted(times_ms, key=lambda operator: -times_ms[operator])
    return GraphProfile(
        graph=graph,
        runs=len(runs),
        run_ms=sum(event["dur"] for event in runs) / 1000,
        operators=tuple(
            OperatorTime(
                graph=graph,
                operator=operator,
                calls=calls[operator],
                total_ms=round(times_ms[operator], 3),
                share=round(times_ms[operator] / total_ms, 4),
            )
            for operator in ordered
        ),
        products=_products(kernels, graph),
    )


def _products(kernels: Sequence[Mapping[str, Any]], graph: str) -> tuple[ProductTime, ...]:
    times_ms: dict[tuple[str, int, int, int], list[float]] = defaultdict(list)
    for event in kernels:
        key = _product(event.get("args", {}))
        if key is not None:
            times_ms[key].append(event["dur"] / 1000)
    return tuple(
        ProductTime(
            graph=graph,
            operator=operator,
            rows=rows,
            inputs=inputs,
            outputs=outputs,
            calls=len(own_ms),
            least_ms=min(own_ms),
        )
        for (operator, rows, inputs, outputs), own_ms in times_ms.items()
    )


def _product(args: Mapping[str, Any]) -> tuple[str, int, int, int] | None:
    """Operator, rows, inputs and outputs of a product with weights; ``None`` for anything else.

    Weights that the runtime has packed for its kernels are no longer listed among the inputs; a float product that
    lists two matrices is one of activations.
    """
    operator = str(args.get("op_name", ""))
    if operator not in PRODUCTS:
        return None
    given = [shape for kind in args.get("input_type_shape", ()) for shape in kind.values()]
    made = [shape for kind in args.get("output_type_shape", ()) for shape in kind.values()]
    if not given or not made or not given[0] or not made[0]:
        return None
    if operator in FLOAT_PRODUCTS and sum(len(shape) > 1 for shape in given) > 1:
        return None
    return operator, math.prod(given[0][:-1]), int(given[0][-1]), int(made[0][-1])


def encoder_share(profiles: Sequence[GraphProfile], decode_ms: float, steps: int) -> float | None:
    """The encoder's part of all decoding time; the rest is decoder, joiner and search.

    A trace begins when the model is loaded, so it also holds the runs of the warm-up; a streaming model runs its
    encoder once a step, which tells how many of its runs belong to the measured time.

    Args:
        profiles: Of every graph of the model.
        decode_ms: Time inside the engine's ``decode``, which holds the search too; 0 for models that do not stream,
            whose graphs are then compared with each other.
        steps: Decoding steps in that time.
    """
    encoder_ms = sum(profile.run_ms for profile in profiles if profile.graph in ENCODER_GRAPHS)
    if not decode_ms:
        all_ms = sum(profile.run_ms for profile in profiles)
        return encoder_ms / all_ms if all_ms else None
    runs = max((profile.runs for profile in profiles if profile.graph in ENCODER_GRAPHS), default=0)
    return min(1.0, encoder_ms / runs * steps / decode_ms) if runs else None


def graph_names(roles: Sequence[str], traces: int) -> list[str]:
    """Which trace, in the order in which they were begun, belongs to which role.

    The engine opens the graphs in the order of the family's roles; where the numbers differ nothing is claimed.
    """
    graphs = [role for role in roles if role not in NOT_GRAPHS]
    return graphs if len(graphs) == traces else [f"graph {number + 1}" for number in range(traces)]


NOT_GRAPHS: Mapping[str, str] = {"tokens": "text", "bpe": "text", "graph": "a decoding graph, not a network"}
"""Roles of files that ONNX Runtime never sees."""
