"""Models for NPUs, by a toolkit that a test made up: ONNX Runtime simulates, and can be told to hear badly."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from edge_asr.cli.convert_job import conversion_lines
from edge_asr.errors import ConfigurationError, InputError, ModelUnsupported, ProviderUnavailable
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.quantize.convert import Conversion, ConversionOutcome, convert
from edge_asr.quantize.progress import Silence
from edge_asr.store.store import InstalledModel
from edge_asr.workload import bundled_clips
from tests.support.engine_cases import STARTER

TOOLKIT = """
import numpy as np
import onnxruntime

TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}

class RKNN:
    def __init__(self, verbose=False): pass
    def config(self, target_platform, custom_string=""):
        self.text = custom_string
        return 0
    def load_onnx(self, source):
        self.session = onnxruntime.InferenceSession(source)
        return 0
    def build(self, do_quantization, dataset):
        self.is_rough = do_quantization
        return 0
    def export_rknn(self, target):
        with open(target, "w") as file: file.write(f"RKNN {self.text}")
        return 0
    def init_runtime(self): return 0
    def inference(self, arrays, data_format):
        given = zip(self.session.get_inputs(), arrays)
        inputs = {entry.name: array.astype(TYPES[entry.type]) for entry, array in given}
        first, *states = self.session.run(None, inputs)
        return [first + LOUDER * self.is_rough * (np.arange(first.shape[-1]) == 0), *states]
"""
"""Rough: the blank is that much likelier, so that words are lost."""


def toolkit(folder: Path, louder: float) -> Path:
    """An interpreter that finds the made-up toolkit beside its own packages."""
    site = folder / "site"
    (site / "rknn").mkdir(parents=True)
    (site / "rknn" / "__init__.py").touch()
    (site / "rknn" / "api.py").write_text(f"LOUDER = {louder}\n{TOOLKIT}")
    (site / "rknn_toolkit2-2.5.0.dist-info").mkdir()
    (site / "rknn_toolkit2-2.5.0.dist-info" / "METADATA").write_text("Name: rknn-toolkit2\nVersion: 2.5.0\n")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return python


def evaluation(folder: Path, count: int) -> Path:
    """So many of the recordings of the package."""
    manifest = folder / "evaluation.tsv"
    rows = [f"{clip.path}\t{clip.reference}" for clip in bundled_clips()[:count]]
    manifest.write_text("audio\ttext\n" + "\n".join(rows) + "\n")
    return manifest


def model() -> InstalledModel:
    directory = STARTER.parent / "starter-en-fp32"
    return InstalledModel(read_manifest(directory / MANIFEST_FILE), directory)


def converted(folder: Path, **changes) -> ConversionOutcome:
    order = {"original": model(), "output": folder / "out", "file_format": "rknn", "platform": "rk3588", **changes}
    return convert(Conversion(**order), Silence())


@pytest.mark.model
def test_a_model_is_compiled_simulated_judged_and_written_with_what_the_engine_reads(tmp_path: Path) -> None:
    outcome = converted(tmp_path, toolkit=toolkit(tmp_path, 0), evaluation=evaluation(tmp_path, 3), budget=0.4)
    report = outcome.report
    assert (report.verdict, report.same_text, report.recordings, report.units) == ("within", 3, 3, 12)
    assert report.loops["model"].least_cosine == pytest.approx(1, abs=1e-4)
    assert report.error_rate_change_low is not None
    assert report.error_rate_change_low < 0 < (report.error_rate_change_high or 0) <= 0.4
    assert "model_type=zipformer2;" in (tmp_path / "out" / "model.rknn").read_text()
    assert json.loads((tmp_path / "out" / "quantization.json").read_text())["versions"]["rknn-toolkit2"] == "2.5.0"
    assert "(change, 95 %: -30.74 to +30.74 points), 12 units of reference" in conversion_lines(report)[-1]


@pytest.mark.model
def test_eight_bits_that_cost_words_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    rough = toolkit(tmp_path, 100)
    heard = evaluation(tmp_path, 3)
    outcome = converted(tmp_path, toolkit=rough, evaluation=heard, budget=0.4, is_int8=True)
    assert outcome.report.error_rate_after > outcome.report.error_rate_before + 0.4
    assert outcome.report.verdict in ("over", "broken")
    assert outcome.directory is None
    assert not (tmp_path / "out").exists()


def test_eight_bits_need_recordings_to_judge_them_by(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="give --eval MANIFEST and --max-wer-increase"):
        converted(tmp_path, is_int8=True)


def test_too_few_words_for_the_budget_are_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has 5 words, too few to decide"):
        converted(tmp_path, evaluation=evaluation(tmp_path, 2), budget=0.005, toolkit=Path("/nowhere"))


def test_a_family_that_the_npu_does_not_run_is_refused(tmp_path: Path) -> None:
    original = model()
    shutil.copytree(original.directory, tmp_path / "other")
    text = (tmp_path / "other" / MANIFEST_FILE).read_text().replace('"zipformer2-ctc"', '"nemo-ctc-streaming"')
    (tmp_path / "other" / MANIFEST_FILE).write_text(text)
    with pytest.raises(ModelUnsupported, match="this model is nemo-ctc-streaming"):
        converted(tmp_path, original=InstalledModel(read_manifest(tmp_path / "other" / MANIFEST_FILE), tmp_path))


def test_a_plugin_that_is_missing_is_named_before_anything_is_quantized(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge_asr.quantize.convert.why_unavailable", lambda _provider: "the plugin is not installed")
    with pytest.raises(
        ProviderUnavailable, match=r"the plugin is not installed; run `pip install 'edge-asr\[npu-qnn\]'`"
    ):
        converted(tmp_path, file_format="qnn", platform="", evaluation=Path("/nowhere"))
