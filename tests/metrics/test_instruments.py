from __future__ import annotations

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from edge_asr.metrics.exposition import new_registry, render
from edge_asr.metrics.instruments import Instruments

FIGURES = {
    "audio_s": 10.0,
    "decode_s": 1.5,
    "cpu_s": 2.0,
    "batches": 30,
    "batched_streams": 45,
    "live_streams": 24,
    "late_streams": 1,
    "segments": 2,
    "dropped_s": 0.5,
    "replaced_samples": 3,
    "skipped_s": 4.0,
    "stale_partials": 1,
    "second_passes_done": 7,
    "second_passes_skipped": 2,
    "backlog_s": 0.5,
    "queue_depth": 3,
}
MODEL = {"model": "starter-en", "family": "zipformer2-ctc", "provider": "cpu", "languages": "en", "threads": 1}
MODEL |= {"digest": "0123456789ab"}


@pytest.fixture
def registry():
    return new_registry()


@pytest.fixture
def instruments(registry):
    return Instruments(registry)


def test_open_sessions_rise_and_fall_and_outcomes_add_up(instruments, registry):
    instruments.session_opened("native")
    instruments.session_opened("native")
    instruments.session_ended("native", "worker_died")
    assert registry.get_sample_value("edge_asr_sessions_open", {"protocol": "native"}) == 1
    labels = {"protocol": "native", "outcome": "worker_died"}
    assert registry.get_sample_value("edge_asr_sessions_total", labels) == 1


def test_a_refusal_is_no_session(instruments, registry):
    instruments.session_refused("wyoming", "overloaded")
    labels = {"protocol": "wyoming", "code": "overloaded"}
    assert registry.get_sample_value("edge_asr_sessions_refused_total", labels) == 1
    assert registry.get_sample_value("edge_asr_sessions_open", {"protocol": "wyoming"}) is None


def test_final_latencies_fall_into_buckets_of_seconds(instruments, registry):
    instruments.final_delivered("native", 0.26)
    name = "edge_asr_final_latency_seconds"
    assert registry.get_sample_value(f"{name}_bucket", {"protocol": "native", "le": "0.2"}) == 0
    assert registry.get_sample_value(f"{name}_bucket", {"protocol": "native", "le": "0.3"}) == 1
    assert registry.get_sample_value(f"{name}_sum", {"protocol": "native"}) == 0.26


def test_a_worker_reports_totals_and_counters_grow_by_the_difference(instruments, registry):
    instruments.worker_ready("0", 1.0, **MODEL)
    instruments.worker_reported("0", FIGURES)
    instruments.worker_reported("0", FIGURES | {"audio_s": 12.0})
    assert registry.get_sample_value("edge_asr_audio_seconds_total", {"worker": "0"}) == 12.0
    assert registry.get_sample_value("edge_asr_decode_seconds_total", {"worker": "0"}) == 1.5


def test_counters_go_on_when_a_new_worker_counts_from_nothing(instruments, registry):
    for _ in range(2):
        instruments.worker_ready("0", 1.0, **MODEL)
        instruments.worker_reported("0", FIGURES)
    assert registry.get_sample_value("edge_asr_audio_seconds_total", {"worker": "0"}) == 20.0
    assert registry.get_sample_value("edge_asr_dropped_audio_seconds_total", {"worker": "0"}) == 1.0


def test_a_lost_worker_is_down_has_no_backlog_and_counts_as_a_restart(instruments, registry):
    instruments.worker_ready("0", 1.0, **MODEL)
    instruments.worker_reported("0", FIGURES)
    instruments.worker_lost("0", "died")
    assert registry.get_sample_value("edge_asr_worker_up", {"worker": "0"}) == 0
    assert registry.get_sample_value("edge_asr_backlog_seconds", {"worker": "0"}) == 0
    assert registry.get_sample_value("edge_asr_worker_restarts_total", {"worker": "0", "reason": "died"}) == 1


def test_only_the_model_served_now_is_named(instruments, registry):
    instruments.worker_ready("0", 1.0, **MODEL)
    instruments.worker_ready("0", 1.0, **(MODEL | {"provider": "rknn"}))
    lines = [line for line in render(registry).decode().splitlines() if line.startswith("edge_asr_model_info{")]
    assert len(lines) == 1
    assert 'provider="rknn"' in lines[0]
    assert lines[0].endswith(" 1.0")


def test_memory_is_asked_for_at_every_scrape(instruments, registry):
    figures = iter([100.0, 200.0])
    instruments.watch_memory("front", lambda: next(figures))
    labels = {"process": "front"}
    assert registry.get_sample_value("edge_asr_resident_memory_bytes", labels) == 100.0
    assert registry.get_sample_value("edge_asr_resident_memory_bytes", labels) == 200.0


def test_every_metric_has_help_and_a_base_unit(instruments, registry):
    other_units = re.compile(r"_(ms|milliseconds|us|ns|minutes|kb|mb|mib|kib|percent)(_|$)")
    families = list(text_string_to_metric_families(render(registry).decode()))
    assert len(families) >= 18
    for family in families:
        assert family.name.startswith("edge_asr_")
        assert family.documentation.endswith(".")
        assert not other_units.search(family.name)


def test_two_daemons_in_one_process_do_not_share_figures():
    first, second = new_registry(), new_registry()
    Instruments(first).limit_sessions(4)
    Instruments(second).limit_sessions(8)
    assert first.get_sample_value("edge_asr_sessions_limit") == 4


def test_decoding_steps_fall_into_buckets_across_the_lives_of_a_worker(instruments, registry):
    one, more = (3, 1) + (0,) * 8, (4, 1) + (0,) * 8
    waits = (4,) + (0,) * 12
    steps = ((0, 4) + (0,) * 11, 0.008)
    instruments.worker_ready("0", 1.0, **MODEL)
    instruments.worker_stepped("0", (one, 5), (waits, 0.002), steps)
    instruments.worker_stepped("0", (more, 6), (waits, 0.002), steps)
    instruments.worker_ready("0", 1.0, **MODEL)
    instruments.worker_stepped("0", (one, 5), (waits, 0.002), steps)
    name = "edge_asr_decode_batch_size"
    assert registry.get_sample_value(f"{name}_bucket", {"worker": "0", "le": "1"}) == 4 + 3
    assert registry.get_sample_value(f"{name}_bucket", {"worker": "0", "le": "2"}) == 5 + 4
    assert registry.get_sample_value(f"{name}_count", {"worker": "0"}) == 9
    assert registry.get_sample_value(f"{name}_sum", {"worker": "0"}) == 11
    assert registry.get_sample_value("edge_asr_decode_wait_seconds_sum", {"worker": "0"}) == 0.004
    assert registry.get_sample_value("edge_asr_decode_step_seconds_count", {"worker": "0"}) == 8


def test_each_core_of_the_npu_is_told():
    registry = new_registry()
    Instruments(registry).npu({"0": 0.82, "1": 0.0})
    assert registry.get_sample_value("edge_asr_npu_load_ratio", {"core": "0"}) == 0.82
    assert registry.get_sample_value("edge_asr_npu_load_ratio", {"core": "1"}) == 0.0


def test_heat_and_the_lighter_model_are_told():
    registry = new_registry()
    instruments = Instruments(registry)
    instruments.heat(71.5, 0.5, {"throttled"})
    instruments.serve_lighter(True)
    assert registry.get_sample_value("edge_asr_temperature_celsius") == 71.5
    assert registry.get_sample_value("edge_asr_heat_capacity_ratio") == 0.5
    causes = ("under_voltage", "frequency_capped", "throttled", "soft_temperature_limit")
    assert [registry.get_sample_value("edge_asr_throttled", {"cause": cause}) for cause in causes] == [0, 0, 1, 0]
    assert registry.get_sample_value("edge_asr_lighter_model_in_use") == 1.0


def test_what_bounds_a_worker_is_told_until_it_is_gone():
    registry = new_registry()
    instruments = Instruments(registry)
    instruments.worker_capacity("0", 28.8, 3.5, 0.25)
    instruments.worker_confinement("0", 1 << 20, 2)
    names = ("capacity_streams", "needed_streams", "busy_ratio", "memory_limit_bytes", "escaped_threads")
    found = [registry.get_sample_value(f"edge_asr_worker_{name}", {"worker": "0"}) for name in names]
    assert found == [28.8, 3.5, 0.25, 1 << 20, 2]
    instruments.worker_retired("0")
    assert registry.get_sample_value("edge_asr_worker_capacity_streams", {"worker": "0"}) is None


def test_the_version_and_the_start_are_told(instruments, registry):
    instruments.daemon_started("1.2.3", 1_700_000_000.0)
    assert registry.get_sample_value("edge_asr_build_info", {"version": "1.2.3"}) == 1
    assert registry.get_sample_value("edge_asr_start_time_seconds") == 1_700_000_000.0


def test_how_long_a_final_travels_is_never_less_than_nothing(instruments, registry):
    for seconds in (0.002, -0.1):
        instruments.final_travelled(seconds)
    assert registry.get_sample_value("edge_asr_final_travel_seconds_sum") == 0.002
