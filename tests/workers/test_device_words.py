"""Lines as runtimes of NPUs write them."""

from __future__ import annotations

import pytest

from edge_asr.workers.device_words import MOST_FAULTS, WITHIN_S, DeviceWords

NOT_SUBMITTED = (
    "E RKNN: [14:38:08.865] failed to submit!, op id: 28, op name: Conv:/encoder/conv, flags: 0x5, task start: 0, "
    "task number: 182, run task counter: 98, int status: 0"
)


def reasons(words: DeviceWords, line: str, count: int, every_s: float = 1.0) -> list[str]:
    return [words.hear(line, number * every_s) for number in range(count)]


@pytest.mark.parametrize(
    "line",
    [
        NOT_SUBMITTED,
        "rknn_run fail! ret=-1",
        "RKNPU: job timeout, flags: 0x0",
        "online-zipformer-transducer-model-rknn.cc:RunEncoder:258 Failed to run encoder",
        "[E:onnxruntime] QnnGraph_execute error. Error code: 6031",
    ],
)
def test_repeated_errors_of_a_device_are_a_reason_with_the_last_line(line):
    *first, last = reasons(DeviceWords(), line, MOST_FAULTS)
    assert first == [""] * (MOST_FAULTS - 1)
    assert last == f"its device reported 3 errors within 60 s, the last one: {line}"


def test_errors_that_are_far_apart_are_none():
    assert not any(reasons(DeviceWords(), NOT_SUBMITTED, 10, every_s=WITHIN_S / 2 + 1))


def test_a_fallback_while_serving_is_a_reason_at_once():
    said = DeviceWords().hear("session.cc:GetSessionOptions:331 Fallback to cpu!", 0.0)
    assert said == "its engine left the device: session.cc:GetSessionOptions:331 Fallback to cpu!"


@pytest.mark.parametrize(
    "line",
    [
        "I RKNN: [16:43:57.198] RKNN Runtime Information, librknnrt version: 2.2.0",
        "W RKNN: [16:43:57.198] query RKNN_QUERY_INPUT_DYNAMIC_RANGE error, rknn model is static shape type",
        "W RKNN: [16:43:57.198] op Where is not supported by the NPU, fallback to CPU",
        "2026-11-30 18:00:00.1 [W:onnxruntime:, session_state.cc:1316] some nodes fall back to CPU",
        "<4>audio of session s1 is clipped",
        "<4>no silero-vad: falling back to the CPU's energy detector",
    ],
)
def test_what_else_is_said_is_no_error(line):
    assert not any(reasons(DeviceWords(), line, 10))
