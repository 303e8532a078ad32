"""The document of ``/status``."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from edge_asr.servers.status import Door, Machine, status_document
from edge_asr.workers.base import OfferedModel
from tests.support.values import SERVING, STARTING

MACHINE = Machine(front_rss_bytes=40 << 20, temperature_c=51.2)


def test_a_serving_daemon_says_what_it_runs_and_how_fast() -> None:
    door = Door("http", "http://127.0.0.1:8765", "this machine only")
    document = status_document(SERVING, (door,), MACHINE, version="1.2.3", uptime_s=12.34)
    assert document["model"]["provider"] == "cpu"
    assert (document["rtf"], document["sessions"], document["max_sessions"]) == (0.2, 1, 16)
    assert document["memory_bytes"] == {"front": 40 << 20, "worker": 90 << 20}
    assert document["temperature_c"] == 51.2
    assert document["doors"] == [{"door": "http", "address": "http://127.0.0.1:8765", "access": "this machine only"}]


def test_the_npus_cores_are_told_where_the_kernel_shows_them() -> None:
    machine = Machine(0, None, {"0": 0.82, "1": 0.0})
    assert status_document(SERVING, (), machine, version="1", uptime_s=0)["npu_loads"] == {"0": 0.82, "1": 0.0}
    assert status_document(SERVING, (), MACHINE, version="1", uptime_s=0)["npu_loads"] == {}


def test_a_starting_daemon_says_what_it_waits_for() -> None:
    document = status_document(STARTING, (), MACHINE, version="1.2.3", uptime_s=0)
    assert (document["state"], document["reason"]) == ("starting", "the model is being loaded")
    assert (document["model"], document["rtf"], document["stats"]) == (None, None, None)


@pytest.mark.parametrize(
    ("offered", "note"),
    [
        ((), "it hears numbers only; for open speech run `pull it`"),
        ((OfferedModel("tiny", ("en",), False),), "it hears numbers only; for open speech run `pull it`"),
        (
            (OfferedModel("big", ("en",), True),),
            "it hears numbers only; for open speech ask for `big`, which is installed",
        ),
    ],
)
def test_what_it_cannot_hear_it_says_with_the_model_that_can(offered: tuple[OfferedModel, ...], note: str) -> None:
    assert SERVING.ready is not None
    ready = replace(SERVING.ready, words_note="it hears numbers only; for open speech run `pull it`")
    serving = replace(SERVING, ready=ready, offered=offered)
    assert status_document(serving, (), MACHINE, version="1", uptime_s=0)["model"]["words_note"] == note
