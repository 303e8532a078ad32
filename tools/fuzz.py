"""Feed a parser bytes that a coverage-guided fuzzer makes up: ``python -m tools.fuzz TARGET [LIBFUZZER OPTIONS]``.

Targets are the codecs of all protocols, driven as the daemon drives them, and the readers of files that come from
elsewhere. Needs ``pip install atheris``. Stops at the first input that raises anything but a refusal::

    python -m tools.fuzz wyoming -max_total_time=120 -max_len=4096
    python -m tools.fuzz wav crash-0123abcd          # that input again
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["edge_asr"]):
    from edge_asr.errors import EdgeAsrError
    from edge_asr.protocols.base import Message
    from edge_asr.protocols.wyoming import WyomingEvent, encode_event
    from edge_asr.sources.wav import parse_wav_header
    from edge_asr.store.onnx_header import read_header
    from tests.protocols.test_any_input import CODECS, EVENTS, USUAL, WORDS, Driver

MOST_MESSAGES = 16


def messages(data: bytes) -> list[Message]:
    """The input as messages: some that are usual, some of usual parts, and raw texts and bytes."""
    provider = atheris.FuzzedDataProvider(data)
    found: list[Message] = []
    while provider.remaining_bytes() and len(found) < MOST_MESSAGES:
        found.append(message(provider))
    return found


def message(provider: atheris.FuzzedDataProvider) -> Message:
    """One message."""
    match provider.ConsumeIntInRange(0, 4):
        case 0:
            return USUAL[provider.ConsumeIntInRange(0, len(USUAL) - 1)]
        case 1:
            return json.dumps(value(provider, 3))
        case 2:
            fields = {str(word(provider)): value(provider, 1) for _ in range(provider.ConsumeIntInRange(0, 3))}
            kind = EVENTS[provider.ConsumeIntInRange(0, len(EVENTS) - 1)]
            return encode_event(WyomingEvent(kind, fields, provider.ConsumeBytes(provider.ConsumeIntInRange(0, 64))))
        case 3:
            return provider.ConsumeUnicodeNoSurrogates(provider.ConsumeIntInRange(0, 200))
        case _:
            return provider.ConsumeBytes(provider.ConsumeIntInRange(0, 4096))


def word(provider: atheris.FuzzedDataProvider) -> str:
    """One that a protocol knows."""
    return WORDS[provider.ConsumeIntInRange(0, len(WORDS) - 1)]


def value(provider: atheris.FuzzedDataProvider, depth: int) -> object:
    """A value of JSON, of words that the protocols know."""
    match provider.ConsumeIntInRange(0, 6 if depth else 4):
        case 0:
            return word(provider)
        case 1:
            return provider.ConsumeInt(5)
        case 2:
            return provider.ConsumeFloat()
        case 3:
            return provider.ConsumeUnicodeNoSurrogates(provider.ConsumeIntInRange(0, 40))
        case 4:
            return (None, True, False)[provider.ConsumeIntInRange(0, 2)]
        case 5:
            return [value(provider, depth - 1) for _ in range(provider.ConsumeIntInRange(0, 4))]
        case _:
            return {word(provider): value(provider, depth - 1) for _ in range(provider.ConsumeIntInRange(0, 5))}


def talk(name: str) -> Callable[[bytes], None]:
    """Drive a conversation; refusals are what is hoped for."""

    def run(data: bytes) -> None:
        driver = Driver(CODECS[name]())
        try:
            for message in messages(data):
                driver.take(driver.talk.receive(message))
                if driver.talk.is_over:
                    return
            driver.take(driver.talk.end_of_input())
        except EdgeAsrError as refusal:
            list(driver.talk.refused(refusal))

    return run


def read_wav(data: bytes) -> None:
    head = b"RIFF" + data[:4] + b"WAVE" + data[4:]  # without these words nothing is read
    for is_whole in (False, True):
        try:
            parse_wav_header(head, is_whole=is_whole)
        except ValueError:
            continue


def read_onnx(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.write(data)
        file.flush()
        try:
            read_header(Path(file.name))
        except EdgeAsrError:
            return


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    **{name: talk(name) for name in CODECS},
    "wav": read_wav,
    "onnx": read_onnx,
}


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        raise SystemExit(f"usage: python -m tools.fuzz {{{','.join(TARGETS)}}} [LIBFUZZER OPTIONS]")
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
