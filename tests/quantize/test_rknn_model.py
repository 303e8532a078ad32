from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edge_asr.errors import LibraryMissing, ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.rknn_model import custom_string, write_dataset
from edge_asr.quantize.rknn_process import toolkit_process

METADATA = {"model_type": "zipformer2", **dict.fromkeys(FAMILIES["zipformer2-ctc"].metadata["model"], "1,2")}


def test_the_string_has_every_key_that_sherpa_reads() -> None:
    text = custom_string({**METADATA, "comment": "not read"}, "zipformer2-ctc", "model")
    pairs = dict(pair.split("=") for pair in text.split(";"))
    assert pairs == METADATA


def test_only_the_encoder_has_a_string() -> None:
    assert custom_string(METADATA, "zipformer2-transducer", "joiner") == ""


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelUnsupported, match="lack model_type, which sherpa-onnx reads"):
        custom_string({key: value for key, value in METADATA.items() if key != "model_type"}, "zipformer2-ctc", "model")


@pytest.mark.parametrize("value", ["a=b", "a;b"])
def test_a_value_that_would_be_split_is_refused(value: str) -> None:
    with pytest.raises(ModelUnsupported, match="metadata T hold"):
        custom_string({**METADATA, "T": value}, "zipformer2-ctc", "model")


def test_more_than_the_file_holds_is_refused() -> None:
    with pytest.raises(ModelUnsupported, match=r"a \.rknn holds 1023"):
        custom_string({**METADATA, "encoder_dims": ",".join(["192"] * 300)}, "zipformer2-ctc", "model")


def test_calibration_inputs_stand_in_the_order_of_the_graph(tmp_path: Path) -> None:
    folder = tmp_path / "steps" / "model"
    folder.mkdir(parents=True)
    np.savez(folder / "00000000.npz", b=np.full(2, 7.0), a=np.zeros(3))
    dataset = write_dataset(tmp_path / "dataset", "model", ("a", "b"), RecordedSteps(tmp_path / "steps"))
    first, second = dataset.read_text(encoding="utf-8").split()
    assert np.load(first).shape == (3,)
    assert np.load(second).tolist() == [7.0, 7.0]


@pytest.mark.parametrize(("python", "what"), [(None, "^rknn-toolkit2 is"), (Path("/no/python"), "^a Python .* at /no")])
def test_a_missing_toolkit_is_named_with_how_to_get_it(python: Path | None, what: str) -> None:
    with pytest.raises(LibraryMissing, match=f"{what}.*rknn-toolkit2=="), toolkit_process(python):
        pass
