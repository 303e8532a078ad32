"""Every family of which there are tiny models goes through a whole quantization, and says what it said before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from edge_asr.engines.registry import load_engine
from edge_asr.errors import ModelUnsupported
from edge_asr.manifest import MANIFEST_FILE, ModelManifest, format_manifest, read_manifest
from edge_asr.quantize.order import Order
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.run import quantize
from edge_asr.quantize.targets import TARGETS
from edge_asr.settings import EngineSettings
from edge_asr.store.store import InstalledModel
from tests.support import tiny_models
from tests.support.engine_cases import silence, text_of
from tests.support.syllables import syllables
from tests.support.tiny_encoders import write_stateful_transducer
from tests.support.tiny_products import WORDS, insert_products, write_recordings

Write = Callable[[Path], dict[str, Path]]

FAMILIES: Mapping[str, Write] = {
    "lstm-transducer": partial(write_stateful_transducer, model_type="lstm"),
    "conformer-transducer": partial(write_stateful_transducer, model_type="conformer"),
    "zipformer-transducer": partial(write_stateful_transducer, model_type="zipformer"),
    "nemo-ctc-streaming": tiny_models.write_nemo_ctc_streaming,
    "wenet-ctc-streaming": tiny_models.write_wenet_ctc_streaming,
    "t-one-ctc": tiny_models.write_t_one_ctc,
    "paraformer-streaming": tiny_models.write_paraformer_streaming,
    "nemo-ctc": tiny_models.write_nemo_ctc_offline,
}
"""Zipformer2 is tested with the trained models, and by size with ``tools/shape_models``."""


def write_family(family: str, directory: Path) -> InstalledModel:
    files = FAMILIES[family](directory)
    insert_products(files["encoder" if "encoder" in files else "model"])
    text = files["tokens"].read_text(encoding="utf-8")
    for number, word in zip(tiny_models.WORDS, WORDS, strict=True):  # numbers in a row are one word to the scorer
        text = text.replace(number.removeprefix("▁"), word.removeprefix("▁"))
    files["tokens"].write_text(text, encoding="utf-8")
    manifest = tiny_models.tiny_manifest(family, files)
    (directory / MANIFEST_FILE).write_text(format_manifest(manifest))
    return InstalledModel(manifest, directory)


def heard(directory: Path) -> str:
    manifest: ModelManifest = read_manifest(directory / MANIFEST_FILE)
    engine = load_engine(directory, manifest, EngineSettings())
    rate = manifest.sample_rate_hz
    audio = np.concatenate([silence(1.0, rate), syllables(rate, rate, 0.1, seed=7), silence(1.0, rate)])
    return text_of(engine, audio, rate // 10)


@pytest.mark.parametrize("recipe", ["int8", "weight4"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_quantized_model_says_what_the_float_one_says(family: str, recipe: str, tmp_path: Path) -> None:
    original = write_family(family, tmp_path / "model")
    order = Order(original=original, output=tmp_path / "out", recipe=recipe, target=TARGETS["pi5"])  # type: ignore[arg-type]
    done = sum(component.nodes.get(recipe, 0) for component in quantize(order, Silence()).document.components)  # type: ignore[call-overload]
    assert done >= 2
    said = heard(tmp_path / "out")
    assert said == heard(tmp_path / "model")
    assert len(said.split()) >= len(WORDS)


@pytest.mark.parametrize("family", ["nemo-ctc", "t-one-ctc"])
def test_what_our_runner_cannot_run_is_searched_by_its_errors(family: str, tmp_path: Path) -> None:
    original = write_family(family, tmp_path / "model")
    text = heard(tmp_path / "model")
    order = Order(
        original=original,
        output=tmp_path / "out",
        recipe="auto",
        target=TARGETS["pi5"],
        evaluation=write_recordings(tmp_path / "audio", 40, text),
        budget=0.05,
    )
    document = quantize(order, Silence()).document
    assert next(point for point in document.points if point.name == document.kept).verdict == "within"


def test_what_our_runner_cannot_run_cannot_be_calibrated(tmp_path: Path) -> None:
    original = write_family("nemo-ctc", tmp_path / "model")
    order = Order(original=original, output=tmp_path / "out", recipe="int8-static", target=TARGETS["pi5"])
    with pytest.raises(ModelUnsupported, match="nemo-ctc models cannot be run step by step here"):
        quantize(order, Silence())
