from pathlib import Path

import pytest

from edge_asr.errors import AlreadyQuantized
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.quantize.choices import Choice
from edge_asr.quantize.graph import apply_assignment
from edge_asr.quantize.recipes import apply_recipe
from edge_asr.quantize.targets import TARGETS
from edge_asr.quantize.workshop import Workshop, base_name
from edge_asr.store.digest import check_files
from edge_asr.store.inspect import inspect_model
from edge_asr.store.store import InstalledModel
from tests.support.tiny_products import write_model


@pytest.fixture
def original(tmp_path: Path) -> InstalledModel:
    return InstalledModel(write_model(tmp_path / "sound"), tmp_path / "sound")


@pytest.fixture
def workshop(original: InstalledModel, tmp_path: Path) -> Workshop:
    return Workshop(original, tmp_path / "work")


def test_a_candidate_is_a_model_directory(workshop: Workshop):
    made = workshop.make("int8", apply_recipe("int8", workshop.components, TARGETS["x86"]))
    manifest = read_manifest(made.candidate.directory / MANIFEST_FILE)
    assert manifest == made.candidate.manifest
    assert (manifest.name, manifest.precision) == ("sound-int8", "int8")
    assert (manifest.version, manifest.licence, manifest.family) == ("1", "CC0-1.0", "lstm-transducer")
    check_files(manifest, made.candidate.directory)
    inspect_model(made.candidate.directory, manifest)


def test_only_graphs_count_for_the_size(workshop: Workshop):
    made = workshop.make("int8", apply_recipe("int8", workshop.components, TARGETS["x86"]))
    graphs = [made.candidate.directory / f"{role}.onnx" for role in ("encoder", "decoder", "joiner")]
    assert made.graph_bytes == sum(path.stat().st_size for path in graphs)


def test_what_is_left_alone_is_the_original_cleaned_up(workshop: Workshop):
    made = workshop.make("some", {})
    assert made.candidate.manifest.precision == "fp32"
    assert set(made.candidate.manifest.files) == set(workshop.original.manifest.files)


def test_two_ways_in_one_model_are_mixed(workshop: Workshop):
    choices: dict[str, Choice] = {"/first/MatMul": "int8", "/second/MatMul": "weight4"}
    quantized = {"encoder": apply_assignment(workshop.components["encoder"], "encoder", choices)}
    assert workshop.make("auto", quantized).candidate.manifest.precision == "mixed"


def test_a_model_is_not_quantized_twice(workshop: Workshop, tmp_path: Path):
    made = workshop.make("int8", apply_recipe("int8", workshop.components, TARGETS["x86"]))
    with pytest.raises(AlreadyQuantized, match="start from the float32 model"):
        Workshop(InstalledModel(made.candidate.manifest, made.candidate.directory), tmp_path / "again")


def test_the_precision_leaves_the_name():
    assert base_name("starter-en-fp32") == "starter-en"
    assert base_name("starter-en") == "starter-en"


def test_a_blank_penalty_stands_in_the_manifest(workshop: Workshop):
    made = workshop.make("auto", {}, blank_penalty=0.2)
    assert read_manifest(made.candidate.directory / MANIFEST_FILE).blank_penalty == 0.2
    assert "blank_penalty" not in (workshop.original.directory / MANIFEST_FILE).read_text()
