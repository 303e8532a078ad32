import json
from pathlib import Path

import pytest

from edge_asr.cli.quantize_job import parse_points
from edge_asr.errors import ConfigurationError
from tests.cli.conftest import Run
from tests.support.tiny_products import SPOKEN, write_model, write_recordings


@pytest.mark.parametrize("text", ["0.5%", "0.5", " 0.5 % "])
def test_a_budget_is_written_in_percentage_points(text: str):
    assert parse_points(text, "--max-wer-increase") == 0.005


@pytest.mark.parametrize("text", ["", "half", "0", "-1%", "51%", "nan"])
def test_a_budget_that_makes_no_sense_is_refused(text: str):
    with pytest.raises(ConfigurationError, match="--max-wer-increase"):
        parse_points(text, "--max-wer-increase")


def test_a_budget_needs_recordings(run: Run, tmp_path: Path):
    ran = run("quantize", "starter-en", "-o", tmp_path / "out", "--max-wer-increase", "1%")
    assert ran.status == 2
    assert "add --eval MANIFEST" in ran.err


def test_a_model_that_is_quantized_already_is_refused(run: Run, tmp_path: Path):
    ran = run("quantize", "starter-en", "-o", tmp_path / "out", "--recipe", "int8")
    assert ran.status == 4
    assert "is quantized already" in ran.err


def test_the_output_is_ready_to_be_imported_and_used(run: Run, alone: Path, tmp_path: Path):
    write_model(tmp_path / "model")
    ran = run("quantize", tmp_path / "model", "-o", tmp_path / "out", "--recipe", "int8")
    assert ran.status == 0
    assert ran.out.split("\n")[1].startswith("int8 *")
    assert run("models", "import", tmp_path / "out").status == 0
    assert run("models", "verify", "sound-int8").status == 0
    audio = write_recordings(tmp_path / "audio", 1).parent / "0.flac"
    assert run("transcribe", "-m", "sound-int8", audio).out.strip() == "left right up down left right up down"


def test_what_a_search_found_is_served_and_measured_again(run: Run, alone: Path, tmp_path: Path):
    write_model(tmp_path / "model")
    manifest = write_recordings(tmp_path / "audio", 40)
    out = tmp_path / "out"
    assert run("quantize", tmp_path / "model", "-o", out, "--eval", manifest, "--max-wer-increase", "5%").status == 0
    record = json.loads((out / "quantization.json").read_text())
    (kept,) = [point for point in record["points"] if point["name"] == record["kept"]]
    assert run("models", "import", out).status == 0
    assert run("transcribe", "-m", "sound-auto", tmp_path / "audio" / "0.flac").out.strip() == SPOKEN
    bench = tmp_path / "bench.json"
    words = ("--mode", "throughput", "--repeat", "1", "--seconds", "5", "--json", bench)
    assert run("bench", out, "--audio", out / "quantization.json", *words).status in (0, 6)  # 6: disturbed
    (result,) = json.loads(bench.read_text())["results"]
    assert (
        len({utterance["clip"] for utterance in result["runs"][0]["utterances"]}) == record["evaluation"]["recordings"]
    )
    assert result["figures"]["wer"]["value"] == kept["accuracy"]["error_rate"]


def test_over_the_budget_the_command_leaves_with_6_and_writes_no_model(run: Run, tmp_path: Path):
    write_model(tmp_path / "model", sabotaged=True)
    manifest = write_recordings(tmp_path / "audio", 20)
    ran = run(
        "quantize", tmp_path / "model", "-o", tmp_path / "out", "--recipe", "int8", "--eval", manifest,
        "--max-wer-increase", "5%", "--report", tmp_path / "report.html",
    )  # fmt: skip
    assert ran.status == 6
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "report.html").is_file()
    assert "no model is within the budget" in ran.err


def test_a_set_too_small_to_decide_leaves_with_3(run: Run, tmp_path: Path):
    write_model(tmp_path / "model")
    manifest = write_recordings(tmp_path / "audio", 3)
    ran = run(
        "quantize", tmp_path / "model", "-o", tmp_path / "out", "--recipe", "int8", "--eval", manifest,
        "--max-wer-increase", "0.5%",
    )  # fmt: skip
    assert ran.status == 3
    assert "about 1153 are needed" in ran.err
