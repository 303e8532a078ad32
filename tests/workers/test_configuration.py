from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from edge_asr.settings import EndpointSettings, EngineSettings, SchedulerSettings, Settings, WorkerSettings
from edge_asr.workers.configuration import pack, unpack
from edge_asr.workers.messages import Configure, MessageDecoder, ToWorker, encode_message

SETTINGS = Settings(
    engine=EngineSettings(provider="rknn", threads=3),
    endpoint=EndpointSettings(silence_ms=700),
    scheduler=SchedulerSettings(backlog_s=5.0),
    worker=WorkerSettings(cpus=(2, 3)),
)


def test_settings_survive_the_way_to_the_worker():
    framed = encode_message(pack(Path("/m"), SETTINGS, Path("/vad.onnx")))
    (configure,) = MessageDecoder(ToWorker).feed(framed)
    groups = unpack(configure)
    assert (groups.engine, groups.endpoint, groups.scheduler) == (
        SETTINGS.engine,
        SETTINGS.endpoint,
        SETTINGS.scheduler,
    )
    assert (configure.model_directory, configure.vad_model) == ("/m", "/vad.onnx")


def test_no_detector_is_an_empty_name():
    assert pack(Path("/m"), SETTINGS, None).vad_model == ""


def test_a_wrong_value_is_refused():
    with pytest.raises(msgspec.ValidationError, match=r"engine\.threads = 0"):
        unpack(Configure("/m", {"engine": {"threads": 0}, "endpoint": {}, "scheduler": {}}))
