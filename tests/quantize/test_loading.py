"""The native engine, with a runtime older than the workstation's, loads what the recipes make."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
import sherpa_onnx

from edge_asr.engines.ort_streaming import StreamingRunner
from edge_asr.families import FAMILIES
from edge_asr.quantize.blank import with_blank_penalty
from edge_asr.quantize.graph import apply_assignment, load_graph, prepare_graph, quantizable_nodes
from edge_asr.quantize.recipes import RecipeName, apply_recipe
from edge_asr.quantize.save import save_model
from edge_asr.quantize.targets import TARGETS
from tests.engines.test_ort_streaming import padded, sherpa_tokens, swelling
from tests.support.engine_cases import STARTER, clip
from tests.support.tiny_encoders import write_stateful_transducer

PI5 = TARGETS["pi5"]


def test_the_workstation_has_the_newer_runtime() -> None:
    import onnxruntime

    theirs = tuple(map(int, sherpa_onnx.onnxruntime_version.split(".")[:2]))
    assert tuple(map(int, onnxruntime.__version__.split(".")[:2])) >= theirs


@pytest.mark.parametrize("recipe", ["int8", "weight8", "weight4", "fp16"])
def test_the_engine_decodes_what_a_recipe_made(recipe: RecipeName, tmp_path: Path) -> None:
    files = write_stateful_transducer(tmp_path / "float", "lstm")
    components = {role: prepare_graph(load_graph(path), name=role) for role, path in files.items() if role != "tokens"}
    made = apply_recipe(recipe, components, PI5)
    quantized = {"tokens": files["tokens"]}
    for role, result in made.items():
        quantized[role] = save_model(result.model, tmp_path / f"{role}.onnx")[0]
    runner = StreamingRunner(files, FAMILIES["lstm-transducer"])
    audio = padded(runner, swelling())
    before, after = (sherpa_tokens("lstm-transducer", each, audio) for each in (files, quantized))
    assert abs(len(after) - len(before)) < 0.2 * len(before)


def test_the_engine_hears_more_where_the_blank_is_scored_lower(tmp_path: Path) -> None:
    files = write_stateful_transducer(tmp_path / "float", "lstm")
    models = {role: load_graph(files[role]) for role in ("encoder", "decoder", "joiner")}
    penalised = with_blank_penalty(models, 0, 2.0)
    joiner = save_model(penalised["joiner"], tmp_path / "joiner.onnx")[0]
    audio = padded(StreamingRunner(files, FAMILIES["lstm-transducer"]), swelling())
    before = sherpa_tokens("lstm-transducer", files, audio)
    assert len(sherpa_tokens("lstm-transducer", {**files, "joiner": joiner}, audio)) > 1.05 * len(before)


@pytest.mark.model
@pytest.mark.parametrize("choice", ["fp32", "int8", "weight4", "fp16"])
def test_the_engine_decodes_a_trained_model_that_was_continued(choice: str, tmp_path: Path) -> None:
    """The bundled model has its products quantized; its pointwise convolutions are left for us."""
    prepared = prepare_graph(load_graph(STARTER / "model.int8.onnx"), name="model", is_continued=True)
    nodes = quantizable_nodes(prepared, "model", PI5)
    assert {node.operator for node in nodes} == {"Conv"}
    made = apply_assignment(prepared, "model", {node.name: choice for node in nodes})  # type: ignore[misc]
    files = {"tokens": STARTER / "tokens.txt", "model": save_model(made.model, tmp_path / "model.onnx")[0]}
    runner = StreamingRunner(files, FAMILIES["zipformer2-ctc"])
    heard = sherpa_tokens("zipformer2-ctc", files, padded(runner, clip("go-forward")))
    assert heard == sherpa_tokens(
        "zipformer2-ctc", {**files, "model": STARTER / "model.int8.onnx"}, padded(runner, clip("go-forward"))
    )
    assert onnx.load(str(files["model"])).metadata_props
