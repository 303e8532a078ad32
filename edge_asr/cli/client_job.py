"""The work of ``client``: one recording after the other, events printed as they come, latencies at the end."""

from __future__ import annotations

import asyncio
import json
import math
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import click
import msgspec

from edge_asr.cli import exit_codes
from edge_asr.cli.client_audio import Length, file_pieces, pcm_pieces, resampled
from edge_asr.cli.client_links import (
    OPENAI_SCHEMES,
    WEBSOCKET_SCHEMES,
    WYOMING_SCHEMES,
    Pcm,
    Timing,
    Wanted,
    converse_native,
    converse_wyoming,
    transcribe_openai,
)
from edge_asr.cli.client_websockets import (
    REALTIME_RATE_HZ,
    SHERPA_RATE_HZ,
    converse_realtime,
    converse_sherpa,
    converse_vosk,
)
from edge_asr.cli.daemon_address import DaemonAddress, parse_address
from edge_asr.cli.messages import complain, warn
from edge_asr.cli.recording_progress import PartialLine
from edge_asr.cli.recordings import STANDARD_INPUT, open_recordings
from edge_asr.clock import MonotonicClock
from edge_asr.errors import (
    ConfigurationError,
    EdgeAsrError,
    InputError,
    MachineError,
    ModelError,
)
from edge_asr.events import Failed, Final, Notice, Partial, SessionEnded, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.sources.paced import PacedSource

Protocol = Literal["native", "wyoming", "vosk", "sherpa", "openai", "realtime"]

_SCHEMES: dict[Protocol, tuple[str, ...]] = {
    "native": WEBSOCKET_SCHEMES,
    "wyoming": WYOMING_SCHEMES,
    "vosk": WEBSOCKET_SCHEMES,
    "sherpa": WEBSOCKET_SCHEMES,
    "openai": OPENAI_SCHEMES,
    "realtime": WEBSOCKET_SCHEMES,
}

Converse = Callable[[DaemonAddress, Pcm, Wanted, Timing], AsyncGenerator[TranscriptEvent, None]]

_CONVERSE: dict[Protocol, Converse] = {
    "native": converse_native,
    "wyoming": converse_wyoming,
    "vosk": converse_vosk,
    "sherpa": converse_sherpa,
    "realtime": converse_realtime,
}
"""Protocols that carry a stream; ``openai`` uploads files."""

_RATE_HZ: dict[Protocol, int] = {"sherpa": SHERPA_RATE_HZ, "realtime": REALTIME_RATE_HZ}
"""Rates of protocols that take only one."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for, checked."""

    address: DaemonAddress
    files: tuple[str, ...]
    protocol: Protocol
    is_realtime: bool
    wanted: Wanted
    as_json: bool

    @classmethod
    def checked(
        cls,
        *,
        url: str,
        files: tuple[str, ...],
        protocol: str | None,
        is_realtime: bool,
        wanted: Wanted,
        token_file: str | None,
        as_json: bool,
    ) -> Wishes:
        """From the words of the command line.

        Raises:
            ConfigurationError: They do not go together.
        """
        is_stream = url.startswith(tuple(f"{scheme}://" for scheme in WYOMING_SCHEMES))
        chosen = cast("Protocol", protocol or ("wyoming" if is_stream else "native"))
        if chosen == "openai" and is_realtime:
            raise ConfigurationError("--realtime has no meaning with --protocol openai, which uploads whole files")
        if files.count(STANDARD_INPUT) > 1:
            raise ConfigurationError("standard input can be read only once; write `-` once")
        address = parse_address(url, _SCHEMES[chosen], token_file)
        try:
            SessionOptions(hotwords=wanted.hotwords)
        except ValueError as error:
            raise ConfigurationError(f"--hotword cannot be asked for: {error}") from error
        return cls(address, files, chosen, is_realtime, wanted, as_json)


@dataclass(frozen=True, slots=True)
class Latencies:
    """What one recording's client had to wait for; seconds, ``None`` where there was nothing to wait for."""

    audio_s: float
    first_partial_s: float | None
    """From the first audio sent to the first partial with text."""
    final_s: float | None
    """From the last audio sent to the end of the session, when every final is there."""


@dataclass(slots=True)
class Job:
    """Recordings on their way through the daemon."""

    wishes: Wishes
    status: int = exit_codes.DONE
    latencies: list[Latencies] = field(default_factory=list)
    partials: PartialLine = field(default_factory=PartialLine)

    def send_all(self) -> None:
        """Send every recording; one that fails is named, and the others are still sent."""
        for file in self.wishes.files:
            try:
                self._send(file)
            except InputError as error:
                self.partials.clear()
                complain(str(error))
                self.status = exit_codes.INPUT
        self._summarise()

    def _send(self, file: str) -> None:
        timing = Timing(MonotonicClock())
        if self.wishes.protocol == "openai":
            events = transcribe_openai(self.wishes.address, file, lambda: file_pieces(file), self.wishes.wanted, timing)
            self._finish(file, timing, _heard(self, file, events))
        else:
            asyncio.run(self._stream(file, timing))

    async def _stream(self, file: str, timing: Timing) -> None:
        converse = _CONVERSE[self.wishes.protocol]
        for _, opened in open_recordings(file, "mix", None):
            source = PacedSource(opened, timing.clock, time.sleep) if self.wishes.is_realtime else opened
            with closing(source):
                length = Length()
                rate_hz = _RATE_HZ.get(self.wishes.protocol, source.sample_rate_hz)
                samples = resampled(iter(source), source.sample_rate_hz, rate_hz, length)
                audio = Pcm(rate_hz, pcm_pieces(samples))
                hearing = Hearing(self, file)
                async with aclosing(converse(self.wishes.address, audio, self.wishes.wanted, timing)) as events:
                    async for event in events:
                        hearing.take(event, timing.clock.now_ns())
                hearing.audio_s = length.seconds
            self._finish(file, timing, hearing)

    def _finish(self, file: str, timing: Timing, hearing: Hearing) -> None:
        latencies = Latencies(
            hearing.audio_s,
            _seconds(timing.first_ns, hearing.first_partial_ns),
            _seconds(timing.last_ns, hearing.end_ns),
        )
        self.latencies.append(latencies)
        if self.wishes.as_json:
            self.print_json(file, {"type": "latencies", **_plain(latencies)})
        else:
            click.echo(f"{file}: {_sentence(latencies)}", err=True)

    def hear(self, file: str, event: TranscriptEvent) -> None:
        """Print an event."""
        self.partials.clear()
        if self.wishes.as_json:
            self.print_json(file, msgspec.to_builtins(event))
        elif isinstance(event, Final):
            if event.text:
                click.echo(event.text)
        elif isinstance(event, Partial):
            self.partials.show(event.text)
        elif isinstance(event, Notice):
            warn(f"{file}: {event.message}")

    def print_json(self, file: str, entry: dict[str, Any]) -> None:
        """One line."""
        click.echo(json.dumps({"file": file, **entry}, ensure_ascii=False))
        sys.stdout.flush()

    def _summarise(self) -> None:
        waits = sorted(entry.final_s for entry in self.latencies if entry.final_s is not None)
        if len(waits) > 1 and not self.wishes.as_json:
            middle, late = _percentile(waits, 0.5), _percentile(waits, 0.95)
            click.echo(
                f"{len(waits)} recordings: end of audio to final {middle * 1000:.0f} ms (p50), "
                f"{late * 1000:.0f} ms (p95)",
                err=True,
            )


class Hearing:
    """What came back of one recording so far."""

    def __init__(self, job: Job, file: str) -> None:
        self._job = job
        self._file = file
        self.audio_s = 0.0
        self.first_partial_ns = 0
        self.end_ns = 0

    def take(self, event: TranscriptEvent, now_ns: int) -> None:
        """An event, as it comes.

        Raises:
            EdgeAsrError: The session failed.
        """
        if isinstance(event, Failed):
            raise error_of(self._file, event)
        if isinstance(event, Partial) and event.text and not self.first_partial_ns:
            self.first_partial_ns = now_ns
        if isinstance(event, SessionEnded):
            self.end_ns = now_ns
            self.audio_s = event.audio_s
        self._job.hear(self._file, event)


def run_job(wishes: Wishes) -> int:
    """Send every recording.

    Returns:
        The exit code: recordings that cannot be used are named on standard error and do not end the job.

    Raises:
        EdgeAsrError: The daemon cannot be reached, or refuses.
    """
    job = Job(wishes)
    job.send_all()
    return job.status


def error_of(file: str, failed: Failed) -> EdgeAsrError:
    """The failure as an error of the kind that its code belongs to."""
    sentence = f"{file}: {failed.message}" if not failed.message.startswith(file) else failed.message
    if failed.code in _INPUT_CODES:
        return InputError(sentence)
    if failed.code.startswith("model_"):
        return ModelError(sentence)
    return MachineError(sentence)


_INPUT_CODES = ("input_unusable", "audio_unreadable", "audio_unsupported", "limit_exceeded")


def _heard(job: Job, file: str, events: Iterable[TranscriptEvent]) -> Hearing:
    hearing = Hearing(job, file)
    for event in events:
        hearing.take(event, time.monotonic_ns())
    return hearing


def _seconds(start_ns: int, end_ns: int) -> float | None:
    return (end_ns - start_ns) / 1e9 if start_ns and end_ns else None


def _plain(latencies: Latencies) -> dict[str, Any]:
    return {
        "audio_s": round(latencies.audio_s, 3),
        "first_partial_s": latencies.first_partial_s,
        "final_s": latencies.final_s,
    }


def _sentence(latencies: Latencies) -> str:
    said = [f"{latencies.audio_s:.2f} s of audio"] if latencies.audio_s else []
    if latencies.first_partial_s is not None:
        said.append(f"first partial {latencies.first_partial_s:.2f} s after the first audio")
    if latencies.final_s is not None:
        said.append(f"final {latencies.final_s * 1000:.0f} ms after the last")
    return ", ".join(said)


def _percentile(ordered: list[float], share: float) -> float:
    """Nearest rank."""
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]
