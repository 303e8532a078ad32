"""Accuracy and speed on real human speech, beside the bare engine in the same run.

::

    python tools/quality.py transcribe   # `edge-asr transcribe` against sherpa-onnx called directly, one thread each
    python tools/quality.py live         # the daemon at live pace, streaming over the websocket
    python tools/quality.py gate         # conversations with the silence gate and without (silence.py, conversation.py)
    python tools/quality.py speech       # words, commands in noise, false commands, numbers (speech_quality.py)
    python tools/quality.py tiers        # a second pass behind a streaming model, and each alone (tiers.py)
    python tools/quality.py nothing      # an hour each of silence, noise and tones: no word may come (nothing.py)
    python tools/quality.py quantize     # the best model within a budget against the usual int8 (quantization.py)

Speech of the first two: the telephone prompts of Debian's asterisk-core-sounds-en packages. Their model:
moonshine-tiny-en, installed in the store (``edge-asr models pull moonshine-tiny-en silero-vad``).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import soundfile
from nothing import measure_nothing
from prompts import Prompt, load_prompts
from quantization import measure_quantization
from silence import measure_gate
from speech_quality import measure_speech
from tiers import measure_tiers

from edge_asr.cli.stores import DICTATION_MODEL, open_store
from edge_asr.scoring import score

REPETITIONS = 3
FRAME_S = 0.1
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy and speed on real human speech.")
    parser.add_argument("figure", choices=(*FIGURES, "gate", "nothing", "speech", "tiers", "quantize"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--audio", type=Path, default=Path(tempfile.gettempdir()) / "edge-asr-prompts", metavar="DIR")
    parser.add_argument("--streams", type=int, default=4, help="live: streams at a time (default 4)")
    parser.add_argument("--model", default="starter-en", help="gate, nothing, tiers: model (starter-en)")
    parser.add_argument("--minutes", type=float, default=60.0, help="nothing: of each sound (60)")
    parser.add_argument("--recordings", action="store_true", help="nothing: also as recordings, without a gate")
    parser.add_argument("--no-vad", action="store_true", help="nothing: as if silero-vad were not installed")
    parser.add_argument("--digits", type=Path, metavar="DIR", help="gate: spoken digits, DIGIT_SPEAKER_NUMBER.wav")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="gate, speech, tiers: every Nth recording")
    parser.add_argument("--eval", type=Path, metavar="MANIFEST", help="quantize: recordings to judge by")
    parser.add_argument("--quantized", type=Path, metavar="DIR", help="quantize: what it wrote, or shall write")
    options = parser.parse_args()
    if options.figure == "quantize":
        figures = measure_quantization(options)
    elif options.figure == "speech":
        figures = measure_speech(options)
    elif options.figure == "tiers":
        figures = measure_tiers(options)
    elif options.figure == "nothing":
        figures = measure_nothing(options)
    elif options.figure == "gate":
        figures = measure_gate(options)
    else:
        figures = FIGURES[options.figure](load_prompts(options.audio), options)
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


# `edge-asr transcribe` against the bare engine.


def compare_with_bare(prompts: list[Prompt], options: argparse.Namespace) -> dict[str, Any]:
    """Runs alternate, so that a machine that slows down slows both."""
    ours, bare = [], []
    for _ in range(REPETITIONS):
        bare.append(_run_bare(options))
        ours.append(_run_transcribe(prompts))
    rtf, bare_rtf = (statistics.median(run["rtf"] for run in runs) for runs in (ours, bare))
    return {
        "clips": len(prompts),
        "audio_s": round(sum(prompt.duration_s for prompt in prompts), 1),
        "repetitions": REPETITIONS,
        "transcribe": {"wer": ours[0]["wer"], "rtf": rtf},
        "bare": {"wer": bare[0]["wer"], "rtf": bare_rtf},
        "rtf_ratio": rtf / bare_rtf,
        "rtf_ratios": [mine["rtf"] / theirs["rtf"] for mine, theirs in zip(ours, bare, strict=True)],
    }


def _run_transcribe(prompts: list[Prompt]) -> dict[str, float]:
    command = [sys.executable, "-m", "edge_asr", "transcribe", "-m", DICTATION_MODEL, "--format", "json"]
    command += [str(prompt.path) for prompt in prompts]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | ONE_THREAD)
    results = json.loads(ran.stdout)
    spent_s = sum(result["rtf"] * result["duration_s"] for result in results)
    audio_s = sum(result["duration_s"] for result in results)
    return {"wer": _wer(prompts, [result["text"] for result in results]), "rtf": spent_s / audio_s}


def _run_bare(options: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, __file__, "bare", "--audio", str(options.audio)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | ONE_THREAD)
    figures: dict[str, float] = json.loads(ran.stdout)
    return figures


def measure_bare(prompts: list[Prompt], _options: argparse.Namespace) -> dict[str, Any]:
    """sherpa-onnx as its examples use it: one whole clip a call."""
    import sherpa_onnx

    model = open_store().find(DICTATION_MODEL)
    files = {role: str(model.directory / file.path) for role, file in model.manifest.files.items()}
    recognizer = sherpa_onnx.OfflineRecognizer.from_moonshine_v2(num_threads=1, **files)
    texts, spent_s = [], 0.0
    for prompt in prompts:
        samples, rate_hz = soundfile.read(prompt.path, dtype="float32")
        began_s = time.monotonic()
        stream = recognizer.create_stream()
        stream.accept_waveform(rate_hz, samples)
        recognizer.decode_stream(stream)
        texts.append(stream.result.text)
        spent_s += time.monotonic() - began_s
    return {"wer": _wer(prompts, texts), "rtf": spent_s / sum(prompt.duration_s for prompt in prompts)}


# The daemon at live pace.


def stream_live(prompts: list[Prompt], options: argparse.Namespace) -> dict[str, Any]:
    """Every clip is one websocket session, fed as fast as it would be spoken."""
    command = [sys.executable, "-m", "edge_asr", "serve", "-m", DICTATION_MODEL, "--port", "0", "--wyoming", "off"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as daemon:
        try:
            url = _address(daemon)
            results = asyncio.run(_stream_all(url, prompts, options.streams))
        finally:
            daemon.send_signal(signal.SIGTERM)
            if daemon.stderr is not None:
                daemon.stderr.close()
    delays_ms = sorted(1000 * delay_s for _, _, delay_s in results)
    return {
        "clips": len(prompts),
        "streams_at_a_time": options.streams,
        "wer": _wer(prompts, [text for text, _, _ in results]),
        "sessions_without_their_end": sum(not has_ended for _, has_ended, _ in results),
        "flush_latency_ms": {
            "p50": round(statistics.median(delays_ms), 1),
            "p90": round(delays_ms[round(0.9 * (len(delays_ms) - 1))], 1),
        },
    }


def _address(daemon: subprocess.Popen[str]) -> str:
    """Where the websocket is, as soon as the model is loaded."""
    assert daemon.stderr is not None
    url = ""
    for line in daemon.stderr:
        found = re.search(r"http://[\d.]+:\d+", line)
        url = found.group().replace("http://", "ws://") + "/v1/stream" if found else url
        if "ready:" in line:
            return url
    sys.exit("the daemon did not start")


async def _stream_all(url: str, prompts: list[Prompt], streams: int) -> list[tuple[str, bool, float]]:
    gate = asyncio.Semaphore(streams)

    async def one(prompt: Prompt) -> tuple[str, bool, float]:
        async with gate:
            return await _stream(url, prompt)

    return await asyncio.gather(*(one(prompt) for prompt in prompts))


async def _stream(url: str, prompt: Prompt) -> tuple[str, bool, float]:
    """Text of the finals, whether the session got its end, and seconds from the last audio to the last final."""
    from websockets.asyncio.client import connect

    samples, rate_hz = soundfile.read(prompt.path, dtype="int16")
    frame = round(FRAME_S * rate_hz)
    async with connect(url) as socket:
        await socket.send(json.dumps({"type": "hello", "sample_rate_hz": rate_hz, "encoding": "s16le"}))
        listening = asyncio.create_task(_listen(socket))
        began_s = time.monotonic()
        for number, start in enumerate(range(0, len(samples), frame), 1):
            await asyncio.sleep(max(0.0, began_s + number * FRAME_S - time.monotonic()))
            await socket.send(samples[start : start + frame].tobytes())
        await socket.send(json.dumps({"type": "finish"}))
        finished_s = time.monotonic()
        texts, has_ended, last_final_s = await listening
    return " ".join(texts), has_ended, max(0.0, last_final_s - finished_s)


async def _listen(socket: Any) -> tuple[list[str], bool, float]:  # noqa: ANN401  any websocket
    texts: list[str] = []
    last_final_s = 0.0
    async for message in socket:
        event = json.loads(message)
        if event["type"] == "final":
            texts.append(event["text"])
            last_final_s = time.monotonic()
        if event["type"] in ("ended", "failed"):
            return texts, event["type"] == "ended", last_final_s
    return texts, False, last_final_s


def _wer(prompts: list[Prompt], texts: list[str]) -> float:
    return score([prompt.text for prompt in prompts], texts).error_rate


FIGURES = {"transcribe": compare_with_bare, "live": stream_live, "bare": measure_bare}


if __name__ == "__main__":
    main()
