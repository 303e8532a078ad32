"""Reading the text of a native result leaves nothing behind."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sherpa_onnx

from edge_asr.engines.native_text import text_of
from tests.support import tiny_models
from tests.support.engine_cases import noise

RATE = 16_000
READS = 500


def streaming(directory: Path) -> Any:
    """The result of a tiny streaming model that has heard a second of noise."""
    files = tiny_models.write_nemo_ctc_streaming(directory)
    spell(files["tokens"])
    recognizer = sherpa_onnx.OnlineRecognizer.from_nemo_ctc(
        model=str(files["model"]), tokens=str(files["tokens"]), enable_endpoint_detection=False
    )
    stream = recognizer.create_stream()
    stream.accept_waveform(RATE, noise(1.0, RATE))
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
    return recognizer.get_result_all(stream)


def segment(directory: Path) -> Any:
    """The same of a model that does not stream."""
    files = tiny_models.write_nemo_ctc_offline(directory)
    spell(files["tokens"])
    recognizer = sherpa_onnx.OfflineRecognizer.from_nemo_ctc(model=str(files["model"]), tokens=str(files["tokens"]))
    stream = recognizer.create_stream()
    stream.accept_waveform(RATE, noise(1.0, RATE))
    recognizer.decode_stream(stream)
    return stream.result


def spell(tokens: Path) -> None:
    """Give the words of the model letters that JSON must escape, or that end lines elsewhere."""
    text = tokens.read_text(encoding="utf-8")
    tokens.write_text(text.replace("two", 't"w\\o').replace("three", "thr\u2028\x07é"), encoding="utf-8")


@pytest.fixture(params=[streaming, segment], ids=["streaming", "segment"])
def result(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    make: Callable[[Path], Any] = request.param
    return make(tmp_path)


def kept_per_read(read: Callable[[], object]) -> float:
    for _ in range(5):
        read()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(READS):
        read()
    gc.collect()
    return (sys.getallocatedblocks() - before) / READS


def test_the_text_is_that_of_the_result(result):
    assert text_of(result) == result.text
    assert {'t"w\\o', "thr\u2028\x07é"} <= set(text_of(result).split(" "))


def test_a_read_keeps_nothing(result):
    assert kept_per_read(lambda: text_of(result)) < 0.1


def test_a_result_that_is_written_otherwise_still_has_its_text():
    assert text_of(SimpleNamespace(text="two words")) == "two words"


def test_half_a_character_among_the_tokens_does_not_cost_the_text():
    class Bytes:
        text = "é"

        def __str__(self) -> str:
            b'{"text": "\xc3'.decode()
            raise AssertionError("the bytes above are no text")

    assert text_of(Bytes()) == "é"
