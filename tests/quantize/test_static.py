from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from edge_asr.engines.ort_streaming import StreamingRunner
from edge_asr.errors import InputError, ModelUnsupported, NothingQuantized
from edge_asr.families import FAMILIES
from edge_asr.quantize.graph import Prepared, prepare_graph
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.static import state_makers, static_int8, static_nodes
from edge_asr.quantize.walk import metadata_of, operator_counts
from tests.support.engine_cases import noise
from tests.support.tiny_graphs import graph_of, relative_error, weights

WINDOW, CHUNK, KEPT, WIDTH, TOKENS = 45, 32, 4, 32, 16


def streaming_model(opset: int = 17) -> onnx.ModelProto:
    """A CTC model with a state: the last frames that ``keeper`` made; ``free`` and ``head`` make none."""
    nodes = [
        helper.make_node("MatMul", ["x", "keep"], ["kept"], "keeper"),
        helper.make_node("Slice", ["kept", "from", "to", "axis"], ["new_cached_0"]),
        helper.make_node("Concat", ["cached_0", "kept"], ["context"], axis=1),
        helper.make_node("MatMul", ["context", "mix"], ["mixed"], "free"),
        helper.make_node("Tanh", ["mixed"], ["bent"]),
        helper.make_node("Slice", ["bent", "zero", "frames", "axis"], ["chunk"]),
        helper.make_node("MatMul", ["chunk", "out"], ["logits"], "head"),
        helper.make_node("LogSoftmax", ["logits"], ["log_probs"], axis=2),
    ]
    constants = {
        "keep": weights(80, WIDTH),
        "mix": weights(WIDTH, WIDTH, seed=2),
        "out": weights(WIDTH, TOKENS, seed=3),
        "from": np.array([CHUNK - KEPT]),
        "to": np.array([CHUNK]),
        "axis": np.array([1]),
        "zero": np.array([0]),
        "frames": np.array([8]),
    }
    return graph_of(
        nodes,
        constants,
        inputs={"x": ["N", WINDOW, 80], "cached_0": ["N", KEPT, WIDTH]},
        outputs=["log_probs", "new_cached_0"],
        metadata={"T": str(WINDOW), "decode_chunk_len": str(CHUNK)},
        opset=opset,
    )


@pytest.fixture
def prepared() -> Prepared:
    return prepare_graph(streaming_model(), name="model.onnx")


def runner_of(model: onnx.ModelProto) -> StreamingRunner:
    return StreamingRunner({"model": model.SerializeToString()}, FAMILIES["zipformer2-ctc"])


@pytest.fixture
def steps(prepared: Prepared, tmp_path: Path) -> RecordedSteps:
    recorded = RecordedSteps(tmp_path)
    recorded.record(runner_of(prepared.model), [noise(4.0, 16_000), noise(3.0, 16_000, 0.01)])
    return recorded


# Recording.


def test_steps_are_read_back_as_they_were(prepared: Prepared, steps: RecordedSteps) -> None:
    first = next(runner_of(prepared.model).steps(noise(4.0, 16_000)))[1]
    read = next(steps.read("model"))
    assert first.keys() == read.keys()
    assert all(np.array_equal(first[name], read[name]) for name in first)


def test_states_are_recorded_as_the_model_made_them(steps: RecordedSteps) -> None:
    states = [inputs["cached_0"] for inputs in steps.read("model")]
    assert sum(not state.any() for state in states) == 2, "the first chunk of each of two recordings"


def test_long_recordings_are_thinned_out_evenly(prepared: Prepared, tmp_path: Path) -> None:
    every, few = RecordedSteps(tmp_path / "every"), RecordedSteps(tmp_path / "few")
    recordings = [noise(8.0, 16_000), noise(8.0, 16_000, 0.01)]
    every.record(runner_of(prepared.model), recordings)
    few.record(runner_of(prepared.model), recordings, most=8)
    assert 8 <= few.count("model") < 16
    kept = [int(path.stem) for path in few._files("model")]
    assert np.all(np.diff(kept) == kept[1] - kept[0])
    assert kept[-1] > every.count("model") * 3 / 4, "both recordings are heard"


def test_one_step_is_in_memory_at_a_time(steps: RecordedSteps) -> None:
    """The stock way holds every output of every recording (onnxruntime#10503)."""
    assert isinstance(steps.read("model"), Iterator)


def test_recordings_without_a_step_are_refused(tmp_path: Path) -> None:
    class Deaf:
        def steps(self, samples: object) -> Iterator[tuple[str, dict[str, object]]]:
            return iter(())

    with pytest.raises(InputError, match="too short"):
        RecordedSteps(tmp_path).record(Deaf(), [np.zeros(10, np.float32)])  # type: ignore[arg-type]


# Quantizing.


def test_what_makes_a_state_is_found(prepared: Prepared) -> None:
    assert state_makers(prepared.model) == {"keeper"}
    assert static_nodes(prepared) == ["free", "head"]


def test_a_sum_of_two_computed_tensors_is_not_followed() -> None:
    """The residual stream has a part of everything in it; following it would leave nothing to quantize."""
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["one"], "upstream"),
        helper.make_node("MatMul", ["one", "b"], ["two"], "branch"),
        helper.make_node("Add", ["one", "two"], ["new_state"]),
        helper.make_node("Relu", ["new_state"], ["y"]),
    ]
    model = graph_of(nodes, {"a": weights(64, 64), "b": weights(64, 64, seed=4)}, outputs=["y", "new_state"])
    assert state_makers(model) == set()


def test_a_stateful_model_is_calibrated_by_its_own_states(prepared: Prepared, steps: RecordedSteps) -> None:
    """The stock reader has no states to give, and cannot (onnxruntime#19601)."""
    made = static_int8({"model": prepared}, steps)["model"]
    assert made.counts.quantized == {"int8": 2}
    clip = noise(3.0, 16_000, 0.03)
    before, after = runner_of(prepared.model).log_posteriors(clip), runner_of(made.model).log_posteriors(clip)
    assert 0 < relative_error(after, before) < 0.35


def test_states_come_out_as_the_float_model_makes_them(prepared: Prepared, steps: RecordedSteps) -> None:
    made = static_int8({"model": prepared}, steps)["model"]
    inputs = next(steps.read("model"))
    states = [
        onnxruntime.InferenceSession(model.SerializeToString()).run(["new_cached_0"], inputs)[0]
        for model in (prepared.model, made.model)
    ]
    assert np.array_equal(*states)


def test_products_are_integer_ones_once_loaded(prepared: Prepared, steps: RecordedSteps, tmp_path: Path) -> None:
    made = static_int8({"model": prepared}, steps)["model"]
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "loaded.onnx")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(made.model.SerializeToString(), options)
    assert operator_counts(onnx.load(str(tmp_path / "loaded.onnx")))["QLinearMatMul"] == 2


def test_the_metadata_and_the_prepared_graph_survive(prepared: Prepared, steps: RecordedSteps) -> None:
    before = prepared.model.SerializeToString(deterministic=True)
    made = static_int8({"model": prepared}, steps)["model"]
    assert metadata_of(made.model).items() >= prepared.metadata.items()
    assert prepared.model.SerializeToString(deterministic=True) == before


def test_a_graph_that_never_ran_stays_float(prepared: Prepared, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(NothingQuantized, match="int8-static"):
        static_int8({"model": prepared}, RecordedSteps(tmp_path))


def test_an_old_operator_set_is_refused_with_the_remedy(steps: RecordedSteps) -> None:
    with pytest.raises(ModelUnsupported, match="needs operator set 13"):
        static_int8({"model": prepare_graph(streaming_model(opset=12))}, steps)
