"""What is asked of ``bench``, checked before anything is loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edge_asr.cli.bench_wishes import Wishes
from edge_asr.errors import ConfigurationError
from edge_asr.settings import EngineSettings, SchedulerSettings, Settings, WorkerSettings

CONFIGURED = replace(
    Settings(),
    engine=EngineSettings(threads=3, allow_spinning=True),
    scheduler=SchedulerSettings(max_batch=4, window_ms=30),
    worker=WorkerSettings(cpus=(1, 2, 3)),
)


def wishes(**words: Any) -> Wishes:
    nothing: dict[str, Any] = {
        "models": (),
        "audio": None,
        "mode": "both",
        "threads": None,
        "streams": "1",
        "cpus": (),
        "providers": None,
        "pieces": "100",
        "batch": None,
        "window": None,
        "spinning": None,
        "asks_for_second_pass": False,
        "url": None,
        "token_file": None,
        "soak": None,
        "accelerates": False,
        "profiles_operators": False,
        "repetitions": 5,
        "seconds": 60.0,
        "seed": 0,
        "json_path": None,
        "html_path": None,
        "is_markdown": False,
    }
    return Wishes.checked(**{**nothing, **words})


def test_where_nothing_is_said_the_configuration_speaks():
    sweep = wishes().sweep(CONFIGURED)
    assert sweep.modes == ("throughput", "paced")
    assert (sweep.threads, sweep.cpus, sweep.batches, sweep.spinning) == ((3,), ((1, 2, 3),), (4,), (True,))
    assert sweep.windows_ms == (30,)
    assert sweep.providers == ("cpu",)


def test_words_win_over_the_configuration():
    sweep = wishes(
        threads="1,2",
        cpus=("0", "0-1"),
        providers="cpu, xnnpack",
        batch="1,8",
        window="0,20",
        spinning="both",
        streams="1,4",
    ).sweep(CONFIGURED)
    assert (sweep.threads, sweep.cpus) == ((1, 2), ((0,), (0, 1)))
    assert (sweep.batches, sweep.spinning, sweep.streams) == ((1, 8), (False, True), (1, 4))
    assert (sweep.providers, sweep.windows_ms) == (("cpu", "xnnpack"), (0, 20))


def test_a_soak_is_one_long_paced_run():
    soak = wishes(soak="30m", mode="both", repetitions=5)
    assert (soak.modes, soak.seconds, soak.repetitions, soak.soak_s) == (("paced",), 1800.0, 1, 1800.0)


def test_an_accelerated_soak_decodes_as_fast_as_it_can():
    assert wishes(soak="24h", accelerates=True).modes == ("throughput",)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"accelerates": True}, "--accelerate belongs to --soak"),
        ({"soak": "soon"}, "--soak 'soon' is no duration"),
        ({"token_file": "token"}, "--token-file belongs to --url"),
        ({"url": "http://board", "models": ("starter-en",)}, "--url measures a daemon as it runs"),
        ({"url": "http://board", "threads": "2"}, "--url measures a daemon as it runs"),
        ({"url": "http://board", "cpus": ("0",)}, "--url measures a daemon as it runs"),
        ({"url": "http://board", "asks_for_second_pass": True}, "--url measures a daemon as it runs"),
        ({"url": "http://board", "spinning": "on"}, "--url measures a daemon as it runs"),
        ({"threads": "0"}, "--threads '0' is not a number from 1 to 64"),
        ({"streams": "x"}, "--streams 'x'"),
        ({"pieces": "5"}, "--pieces '5' is not a number from 10"),
        ({"batch": "257"}, "--batch '257'"),
        ({"window": "1001"}, "--window '1001' is not a number from 0 to 1000"),
        ({"url": "http://board", "window": "20"}, "--url measures a daemon as it runs"),
        ({"providers": "cpu,abacus"}, "unknown provider 'abacus'"),
        ({"json_path": Path("/nowhere/a.json")}, "no such folder"),
    ],
)
def test_words_that_do_not_go_together_are_refused(words, reason):
    with pytest.raises(ConfigurationError) as caught:
        wishes(**words)
    assert reason in str(caught.value)
