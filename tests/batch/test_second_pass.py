from __future__ import annotations

from dataclasses import replace

import pytest

from edge_asr.audio import Float32Array
from edge_asr.batch.hearing import Hearer
from edge_asr.batch.messages import Done, Order, Task
from edge_asr.engines.base import Hypothesis, TokenConstraint
from edge_asr.workers.loaded_model import LoadedModel, SecondModel
from edge_asr.workers.messages import Configure
from tests.batch.conftest import MakeRecording
from tests.workers import scripted


class SecondDecoder:
    sample_rate_hz = scripted.RATE_HZ
    max_segment_s = 30.0

    def decode(self, samples: Float32Array, _constraint: TokenConstraint | None = None) -> Hypothesis:
        return Hypothesis("Words.", (), len(samples))


@pytest.fixture
def heard(order: Order, make_recording: MakeRecording) -> str:
    def load(configure: Configure) -> LoadedModel:
        return replace(scripted.load(configure), second=SecondModel(SecondDecoder(), "as_is"))

    done = Hearer(order, load).hear(Task(0, str(make_recording("a.wav", scripted.WORD, scripted.WORD).path)))
    assert isinstance(done, Done)
    return " ".join(final.text for final in done.heard[0].finals)


def test_finals_are_those_of_the_second_model_where_there_is_one(heard: str) -> None:
    assert heard == "Words."
