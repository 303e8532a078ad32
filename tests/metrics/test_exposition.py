from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from edge_asr.metrics.exposition import CONTENT_TYPE, new_registry, render
from edge_asr.metrics.instruments import Instruments


def test_what_is_exposed_reads_back():
    registry = new_registry()
    Instruments(registry).limit_sessions(16)
    values = {family.name: family.samples for family in text_string_to_metric_families(render(registry).decode())}
    assert values["edge_asr_sessions_limit"][0].value == 16


def test_nothing_of_the_interpreter_and_no_time_of_birth_is_exposed():
    registry = new_registry()
    instruments = Instruments(registry)
    instruments.session_opened("native")
    instruments.session_ended("native", "ended")
    text = render(registry).decode()
    assert "python_" not in text
    assert "_created" not in text


def test_the_content_type_is_the_text_format():
    assert CONTENT_TYPE.startswith("text/plain; version=")
