"""Listeners that talk to a running daemon as microphones would, each over its own websocket, and note every delay.

They play the same game as the listeners of :mod:`edge_asr.bench.paced`: pieces leave on absolute deadlines, time stamps
are those of the deadline, every second recording is ended at once and the others are left to the endpoint rule.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from edge_asr.bench.document import Utterance
from edge_asr.bench.hearing import Asked, Hearing, Schedule, utterance_of, word_errors
from edge_asr.bench.paced import HOPELESS_S, LAST_WORD_S, PATIENCE_S, PAUSE_S, is_ended_at_once
from edge_asr.bench.thinning import Thinned
from edge_asr.cli.client_links import Pcm, Timing, Wanted, converse_native
from edge_asr.cli.daemon_address import DaemonAddress
from edge_asr.clock import Clock
from edge_asr.events import Failed, Final
from edge_asr.workload import ClipAudio


@dataclass(slots=True)
class Talk:
    """What came out."""

    utterances: Thinned[Utterance] = field(default_factory=Thinned)
    jitter_ms: Thinned[float] = field(default_factory=Thinned)
    jitter_max_ms: float = 0.0
    audio_s: float = 0.0
    """Of the recordings, all listeners."""
    busy_ns: int = 0
    """Time during which recordings were under way; as fast as possible only."""
    failures: Counter[str] = field(default_factory=Counter)
    is_hopeless: bool = False
    """The daemon fell behind without end, and the listeners gave up."""

    def take(self, utterance: Utterance) -> None:
        """Another recording has been heard."""
        self.utterances.add(utterance)
        self.audio_s += utterance.audio_s


@dataclass(frozen=True, slots=True)
class Company:
    """What all listeners share."""

    address: DaemonAddress
    clips: Sequence[ClipAudio]
    language: str
    piece_ms: int
    clock: Clock
    is_near: bool
    """Whether the daemon reads the same clock, so that its own time stamps can be compared with ours."""
    talk: Talk


async def talk_at_live_pace(company: Company, *, streams: int, seconds: float, waits_for_rule: bool = True) -> None:
    """Let ``streams`` listeners talk for ``seconds``; recordings that were begun are played to their end.

    Raises:
        EdgeAsrError: The daemon cannot be reached, refuses, or hung up.
    """
    start_ns = company.clock.now_ns() + 50_000_000
    spread_ns = round(max(company.piece_ms, 100) * 1e6 / streams)
    async with asyncio.TaskGroup() as group:
        for stream in range(streams):
            group.create_task(
                _listen(company, stream, start_ns + stream * spread_ns, start_ns + round(seconds * 1e9), waits_for_rule)
            )


async def talk_as_fast_as_possible(company: Company, *, streams: int, least_audio_s: float) -> None:
    """Whole passes over the recordings, ``streams`` side by side, until so much audio was heard.

    Raises:
        EdgeAsrError: As for :func:`talk_at_live_pace`.
    """
    clips = company.clips
    while company.talk.audio_s < least_audio_s:
        for first in range(len(clips)):
            await _together(company, [clips[(first + stream) % len(clips)] for stream in range(streams)])


async def _together(company: Company, clips: Sequence[ClipAudio]) -> None:
    started_ns = company.clock.now_ns()
    texts = await asyncio.gather(*(_rush(company, clip) for clip in clips))
    wall_ns = company.clock.now_ns() - started_ns
    company.talk.busy_ns += wall_ns
    audio_s = sum(clip.audio_s for clip in clips)
    for stream, (clip, text) in enumerate(zip(clips, texts, strict=True)):
        errors, units = word_errors(clip.clip.reference, text, company.language)
        company.talk.take(
            Utterance(
                clip=clip.clip.name,
                stream=stream,
                audio_s=clip.audio_s,
                wall_s=clip.audio_s / audio_s * wall_ns / 1e9,
                errors=errors,
                units=units,
                text=text,
            )
        )


async def _rush(company: Company, clip: ClipAudio) -> str:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in clip.pieces(company.piece_ms):
            yield piece

    hearing = Hearing()
    audio = Pcm(clip.sample_rate_hz, pieces())
    async for event in converse_native(company.address, audio, Wanted(company.language), Timing(company.clock)):
        hearing.hear(event, company.clock.now_ns())
        if isinstance(event, Failed):
            company.talk.failures[event.message] += 1
    return hearing.text


async def _listen(company: Company, stream: int, start_ns: int, last_start_ns: int, waits_for_rule: bool) -> None:
    number, due_ns = stream, start_ns
    while due_ns <= last_start_ns and not company.talk.is_hopeless:
        clip = company.clips[number % len(company.clips)]
        is_flushed = not waits_for_rule or is_ended_at_once(number, len(company.clips))
        recording = _Recording(company, stream, clip, is_flushed=is_flushed)
        await recording.play(due_ns)
        number, due_ns = number + 1, company.clock.now_ns() + round(PAUSE_S * 1e9)


class _Recording:
    """One recording in a session of its own."""

    def __init__(self, company: Company, stream: int, clip: ClipAudio, *, is_flushed: bool) -> None:
        self._company = company
        self._stream = stream
        self._clip = clip
        self._is_flushed = is_flushed
        self._hearing = Hearing()
        self._schedule = Schedule(0, clip.onset_s, clip.end_s)
        self._released_ns = 0
        self._is_closed = False

    async def play(self, due_ns: int) -> None:
        company = self._company
        audio = Pcm(self._clip.sample_rate_hz, self._pieces(due_ns))
        async for event in converse_native(company.address, audio, Wanted(company.language), Timing(company.clock)):
            self._hearing.hear(event, company.clock.now_ns(), self._released_ns)
            if isinstance(event, Final) and event.end_s >= self._schedule.end_s - LAST_WORD_S:
                self._is_closed = True
            if isinstance(event, Failed):
                company.talk.failures[event.message] += 1
        company.talk.take(self._utterance())

    async def _pieces(self, due_ns: int) -> AsyncIterator[bytes]:
        """The recording, and after it silence until the endpoint rule has spoken."""
        # Connecting is not the recogniser's doing: the recording begins when the session is open.
        self._schedule = replace(self._schedule, started_ns=max(due_ns, self._company.clock.now_ns()))
        sent_s = 0.0
        for piece in self._clip.pieces(self._company.piece_ms):
            sent_s += len(piece) / 2 / self._clip.sample_rate_hz
            await self._wait_until(sent_s)
            yield piece
        if self._is_flushed:
            self._schedule = replace(self._schedule, finished_ns=self._released_ns)
            return
        samples = self._clip.sample_rate_hz * self._company.piece_ms // 1000
        while not self._is_closed and sent_s < self._clip.audio_s + PATIENCE_S:
            sent_s += samples / self._clip.sample_rate_hz
            await self._wait_until(sent_s)
            yield bytes(2 * samples)

    async def _wait_until(self, position_s: float) -> None:
        clock, talk, due_ns = self._company.clock, self._company.talk, self._schedule.at(position_s)
        early_ns = due_ns - clock.now_ns()
        if early_ns > 0:
            await asyncio.sleep(early_ns / 1e9)
            late_ms = max(0.0, (clock.now_ns() - due_ns) / 1e6)
            talk.jitter_ms.add(late_ms)
            talk.jitter_max_ms = max(talk.jitter_max_ms, late_ms)
        elif -early_ns > HOPELESS_S * 1e9:  # the daemon takes no more audio until it has decoded what it has
            talk.is_hopeless = True
        self._released_ns = due_ns

    def _utterance(self) -> Utterance:
        clip = self._clip
        asked = Asked(
            clip.clip.name, self._stream, clip.audio_s, clip.clip.reference, self._company.language, clip.clip.words
        )
        heard = utterance_of(asked, self._hearing, self._schedule)
        if self._company.is_near:
            return heard
        return _without_the_others_clock(heard)


def _without_the_others_clock(utterance: Utterance) -> Utterance:
    """Of a daemon elsewhere only what our own clock says: when it had computed the final is not known."""
    import msgspec

    return msgspec.structs.replace(utterance, final_compute_ms=None, final_delivery_ms=None)
