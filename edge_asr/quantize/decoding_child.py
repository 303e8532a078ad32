"""``python -m edge_asr.quantize.decoding_child``: a model in a process of its own, since a damaged one can end it.

Standard input brings a ``Configure`` as one line of JSON, then the path of a recording as a line of JSON, again and
again; standard output answers each with a line (:mod:`edge_asr.quantize.decoding_messages`).
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import IO

import msgspec

from edge_asr.clock import MonotonicClock
from edge_asr.errors import EdgeAsrError
from edge_asr.quantize.decoding_messages import Ready, Recognised
from edge_asr.requests import SessionOptions
from edge_asr.resources.memory import read_process_memory
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.understanding import Understanding
from edge_asr.sources.file import open_file
from edge_asr.transcription import transcribe
from edge_asr.workers.configuration import unpack
from edge_asr.workers.loading import load_model
from edge_asr.workers.messages import Configure

_STDOUT, _STDERR = 1, 2


def main() -> None:
    """The process."""
    answers = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)  # whatever native code prints must not mix with the answers
    configure = msgspec.json.decode(sys.stdin.buffer.readline(), type=Configure)
    with os.fdopen(answers, "wb") as answer:
        try:
            loop = _load(configure)
        except EdgeAsrError as error:
            _say(answer, Ready(code=error.code, message=str(error)))
        else:
            _say(answer, Ready(resident_bytes=read_process_memory(os.getpid()).resident_bytes))
            for line in sys.stdin.buffer:
                _say(answer, _recognise(loop, msgspec.json.decode(line, type=str)))
    os._exit(0)  # native thread pools can hang the interpreter's own way out


def _load(configure: Configure) -> DecodeLoop:
    loaded = load_model(configure)
    settings = unpack(configure)
    return DecodeLoop(
        loaded.engine,
        settings.endpoint,
        settings.scheduler,
        MonotonicClock(),
        Understanding(text_case=loaded.text_case, expect=loaded.expect),
    )


def _recognise(loop: DecodeLoop, path: str) -> Recognised:
    options = SessionOptions(partials=False, is_batch=True)
    try:
        with closing(open_file(Path(path))) as source:
            chunks = list(source)
        cpu_ns = time.process_time_ns()
        transcript = transcribe(loop, chunks, options, MonotonicClock())
        cpu_ns = time.process_time_ns() - cpu_ns
    except EdgeAsrError as error:
        return Recognised(code=error.code, message=str(error))
    return Recognised(
        text=" ".join(final.text for final in transcript.finals if final.text),
        audio_s=transcript.audio_s,
        wall_s=transcript.processing_s,
        cpu_s=cpu_ns / 1e9,
    )


def _say(answer: IO[bytes], message: msgspec.Struct) -> None:
    answer.write(msgspec.json.encode(message) + b"\n")
    answer.flush()


if __name__ == "__main__":
    main()
