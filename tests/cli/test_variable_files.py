"""Values in files that variables name."""

from __future__ import annotations

import pytest

from edge_asr.cli.configuration import environment_layer
from edge_asr.errors import ConfigurationError


def test_a_secret_is_read_from_its_file_and_the_variable_is_named_as_its_origin(tmp_path) -> None:
    (tmp_path / "url").write_text("mqtt://user:secret@broker\n")
    layer = environment_layer({"EDGE_ASR_MQTT_URL_FILE": str(tmp_path / "url")})

    assert layer.values == {"mqtt.url": "mqtt://user:secret@broker"}
    assert layer.origins == {"mqtt.url": "EDGE_ASR_MQTT_URL_FILE"}


def test_a_setting_that_is_a_file_itself_is_not_read(tmp_path) -> None:
    assert environment_layer({"EDGE_ASR_SERVER_TOKEN_FILE": "/run/token"}).values == {"server.token_file": "/run/token"}


@pytest.mark.parametrize("order", [1, -1])
def test_both_ways_at_once_are_refused(tmp_path, order) -> None:
    (tmp_path / "threads").write_text("2")
    both = [("EDGE_ASR_ENGINE_THREADS", "3"), ("EDGE_ASR_ENGINE_THREADS_FILE", str(tmp_path / "threads"))]

    with pytest.raises(ConfigurationError, match="EDGE_ASR_ENGINE_THREADS are both set; unset one"):
        environment_layer(dict(both[::order]))


def test_an_empty_variable_beside_a_file_is_not_set(tmp_path) -> None:
    (tmp_path / "threads").write_text("2")
    files = {"EDGE_ASR_ENGINE_THREADS": "", "EDGE_ASR_ENGINE_THREADS_FILE": str(tmp_path / "threads")}

    assert environment_layer(files).values == environment_layer(dict(reversed(files.items()))).values
    assert environment_layer(files).values == {"engine.threads": 2}


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(ConfigurationError, match="EDGE_ASR_MODEL_FILE: /missing cannot be read: No such file"):
        environment_layer({"EDGE_ASR_MODEL_FILE": "/missing"})


def test_a_file_that_is_no_secret_is_refused(tmp_path) -> None:
    (tmp_path / "huge").write_text("x" * 70_000)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")

    for name, words in (("huge", "holds more than 65536 characters"), ("binary", "is not text in UTF-8")):
        with pytest.raises(ConfigurationError, match=words):
            environment_layer({"EDGE_ASR_MODEL_FILE": str(tmp_path / name)})


def test_a_value_that_is_wrong_is_blamed_on_the_variable_that_names_its_file(tmp_path) -> None:
    (tmp_path / "threads").write_text("many")

    with pytest.raises(ConfigurationError, match=r"EDGE_ASR_ENGINE_THREADS_FILE: engine\.threads = 'many' is not"):
        environment_layer({"EDGE_ASR_ENGINE_THREADS_FILE": str(tmp_path / "threads")})
