"""The client programs of the table: packages and binaries that people have, or loops as published."""

from __future__ import annotations

from tools.protocol_table.native_program import native_drop, native_err, native_listen
from tools.protocol_table.openai_program import (
    g711,
    openai_drop,
    openai_erring,
    openai_listen,
    openai_sse_listen,
    pcm_24k,
    realtime_drop,
    realtime_err,
    realtime_listener,
    realtime_session,
)
from tools.protocol_table.program import Program
from tools.protocol_table.sherpa_program import (
    sherpa_binary_listen,
    sherpa_drop,
    sherpa_err,
    sherpa_offline_drop,
    sherpa_offline_err,
    sherpa_offline_listener,
    sherpa_python_listen,
)
from tools.protocol_table.vosk_program import vosk_drop, vosk_err, vosk_listener
from tools.protocol_table.wyoming_program import wyoming_drop, wyoming_err, wyoming_listen

PROGRAMS = (
    Program("native", "websockets", native_listen, native_err, native_drop),
    Program("Wyoming", "wyoming package, Home Assistant's order", wyoming_listen, wyoming_err, wyoming_drop),
    Program(
        "vosk", "test.py loop, /vosk", vosk_listener(lambda daemon: f"{daemon.websocket}/vosk"), vosk_err, vosk_drop
    ),
    Program("vosk", "test.py loop, own port", vosk_listener(lambda daemon: daemon.vosk), vosk_err, vosk_drop),
    Program("sherpa", "sherpa-onnx-online-websocket-client", sherpa_binary_listen, None, sherpa_drop),
    Program(
        "sherpa",
        "online-websocket-client-decode-file.py loop",
        sherpa_python_listen,
        sherpa_err,
        sherpa_drop,
        last_segment_only=True,
    ),
    Program(
        "sherpa-offline",
        "decode-files-sequential.py loop",
        sherpa_offline_listener(lambda daemon: daemon.sherpa),
        sherpa_offline_err,
        sherpa_offline_drop,
    ),
    Program("OpenAI REST", "openai package", openai_listen, openai_erring(stream=False), openai_drop),
    Program("OpenAI SSE", "openai package, stream=True", openai_sse_listen, openai_erring(stream=True), openai_drop),
    Program(
        "OpenAI realtime",
        "openai package, 24 kHz, turns by silence",
        realtime_listener(realtime_session("audio/pcm", by_silence=True), pcm_24k, commits=False),
        realtime_err,
        realtime_drop,
    ),
    Program(
        "OpenAI realtime",
        "openai package, 24 kHz, commit",
        realtime_listener(realtime_session("audio/pcm"), pcm_24k, commits=True),
        realtime_err,
        realtime_drop,
    ),
    Program(
        "OpenAI realtime",
        "openai package, μ-law, commit",
        realtime_listener(realtime_session("audio/pcmu"), g711("ULAW"), commits=True),
        realtime_err,
        realtime_drop,
    ),
    Program(
        "OpenAI realtime",
        "openai package, A-law, commit",
        realtime_listener(realtime_session("audio/pcma"), g711("ALAW"), commits=True),
        realtime_err,
        realtime_drop,
    ),
)
