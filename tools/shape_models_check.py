"""The proof that sherpa-onnx takes a model of ``shape_models.py``: ``shape_models_check.py DIRECTORY``.

A process of its own: sherpa-onnx and the onnxruntime wheel each bring an onnxruntime.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import sherpa_onnx
import soundfile

SPEECH = Path(__file__).parents[1] / "edge_asr" / "clips" / "austen-0870.flac"


def main() -> None:
    """Decode a recording and say what came out."""
    directory = Path(sys.argv[1])
    files = {role: str(directory / f"{role}.onnx") for role in ("model", "encoder", "decoder", "joiner")}
    files = {role: path for role, path in files.items() if Path(path).exists()}
    factories = sherpa_onnx.OnlineRecognizer
    factory = factories.from_zipformer2_ctc if "model" in files else factories.from_transducer
    recognizer = factory(tokens=str(directory / "tokens.txt"), num_threads=1, **files)
    samples, rate_hz = soundfile.read(SPEECH, dtype="float32")
    began_s = time.process_time()
    stream = recognizer.create_stream()
    stream.accept_waveform(rate_hz, samples)
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
    audio_s = len(samples) / rate_hz
    tokens = len(recognizer.get_result_all(stream).tokens)
    spent_s = time.process_time() - began_s
    print(
        f"  sherpa-onnx: {tokens / audio_s:.1f} tokens and {spent_s / audio_s:.3f} processor seconds a second of audio"
    )
    if not tokens:
        sys.exit(f"{directory}: nothing came out")


if __name__ == "__main__":
    main()
