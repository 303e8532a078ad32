from __future__ import annotations

import pytest

from tools.peers_bench.comparison import (
    DAEMON,
    DICTATION_MODEL,
    LIBRARY,
    MOONSHINE_VOICE,
    SHERPA_PYTHON,
    SHERPA_SERVER,
    Ratio,
    figures_of,
    median_ratio,
    ratios_of,
    worst,
)
from tools.peers_bench.measurement import OWN_MODEL, Measurement, Pass


def listened(peer: str, repetition: int, cpu_s: float, flush_s: float, text: str = "yes") -> Measurement:
    return Measurement(peer, "m", repetition, "listen", "a", 10.0, cpu_s, flush_s, 0.0, text, "yes")


def decoded(peer: str, repetition: int, wall_s: float, cpu_s: float) -> Measurement:
    return Measurement(peer, "m", repetition, "decode", "a", 10.0, cpu_s, wall_s, 0.0, "yes", "yes")


def passed(peer: str, *measurements: Measurement, model: str = "m", peak_bytes: int = 0) -> Pass:
    return Pass(peer, model, measurements[0].repetition, peak_bytes, 0.25, measurements)


def by_name(passes: list[Pass]) -> dict[str, Ratio]:
    return {ratio.name: ratio for ratio in ratios_of(passes, [])}


def test_rtf_is_pooled_over_recordings_and_ours_stands_above() -> None:
    ratios = by_name(
        [
            passed(LIBRARY, decoded(LIBRARY, 0, 1.0, 2.0)),
            passed(LIBRARY, decoded(LIBRARY, 1, 3.0, 2.0)),
            passed(SHERPA_PYTHON, decoded(SHERPA_PYTHON, 0, 1.0, 1.0)),
            passed(SHERPA_PYTHON, decoded(SHERPA_PYTHON, 1, 1.0, 1.0)),
        ]
    )
    assert ratios["rtf_vs_sherpa_python"].value == pytest.approx(2.0)
    assert ratios["rtf_cpu_vs_sherpa_python"].value == pytest.approx(2.0)
    assert ratios["rtf_vs_sherpa_python"].low == pytest.approx(1.0)
    assert ratios["rtf_vs_sherpa_python"].high == pytest.approx(3.0)


def test_a_single_repetition_gives_a_ratio_without_an_interval() -> None:
    ratios = by_name(
        [passed(DAEMON, listened(DAEMON, 0, 3.0, 0.1)), passed(SHERPA_SERVER, listened(SHERPA_SERVER, 0, 2.0, 0.1))]
    )
    assert ratios["live_cpu_vs_sherpa_ws"].value == pytest.approx(1.5)
    assert ratios["live_cpu_vs_sherpa_ws"].low is None


def test_the_dictation_model_stands_against_a_peer_with_its_own() -> None:
    ours = listened(DAEMON, 0, 1.0, 0.1)
    ratios = by_name(
        [
            passed(DAEMON, ours, model=DICTATION_MODEL, peak_bytes=300),
            passed(DAEMON, ours, peak_bytes=999),
            passed(MOONSHINE_VOICE, listened(MOONSHINE_VOICE, 0, 4.0, 0.4), model=OWN_MODEL, peak_bytes=600),
        ]
    )
    assert {name: ratio.value for name, ratio in ratios.items()} == pytest.approx(
        {
            "live_cpu_vs_moonshine_voice": 0.25,
            "flush_latency_vs_moonshine_voice": 0.25,
            "peak_memory_vs_moonshine_voice": 0.5,
        }
    )


def test_latencies_are_compared_by_their_medians() -> None:
    value, low, high = median_ratio([1.0, 2.0, 9.0], [1.0, 1.0, 1.0], is_paired=True)
    assert value == 2.0
    assert low is not None
    assert high is not None
    assert low <= 2.0 <= high


def test_streams_are_compared_by_the_median_of_the_searches() -> None:
    streams = [(DAEMON, "m", 6), (SHERPA_SERVER, "m", 4), (SHERPA_SERVER, "m", 4), (DAEMON, "m", 10)]
    (ratio,) = ratios_of([], streams)
    assert (ratio.name, ratio.value) == ("streams_vs_sherpa_ws", 2.0)


def test_a_server_that_carries_nothing_gives_no_ratio() -> None:
    assert ratios_of([], [(DAEMON, "m", 6), (SHERPA_SERVER, "m", 0)]) == []


def test_the_headline_is_the_model_with_which_we_come_out_worst() -> None:
    def ratio(name: str, model: str, value: float) -> Ratio:
        return Ratio(name, model, "ours", "theirs", value, None, None)

    ratios = [
        ratio("rtf_vs_sherpa_onnx", "small", 1.2),
        ratio("rtf_vs_sherpa_onnx", "large", 1.0),
        ratio("streams_vs_sherpa_ws", "small", 0.9),
        ratio("streams_vs_sherpa_ws", "large", 1.4),
    ]
    assert worst(ratios) == {"rtf_vs_sherpa_onnx": 1.2, "streams_vs_sherpa_ws": 0.9}


def test_figures_are_seconds_of_work_for_each_second_of_audio() -> None:
    (figures,) = figures_of([passed(DAEMON, listened(DAEMON, 0, 0.5, 0.08, text="no"), peak_bytes=3 << 20)])
    assert (figures.live_cpu, figures.flush_ms, figures.peak_mib) == pytest.approx((0.05, 80.0, 3.0))
    assert (figures.rtf_wall, figures.wer, figures.foreign_share) == (None, 1.0, 0.25)
