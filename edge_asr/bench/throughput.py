"""As fast as possible: recordings in, one piece after the other, and the clock runs only while somebody works."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from edge_asr.bench.document import Stages, Utterance
from edge_asr.bench.hearing import Hearing, word_errors
from edge_asr.bench.recorder import STEADY_STEPS
from edge_asr.bench.rig import Rig
from edge_asr.bench.thinning import Thinned
from edge_asr.errors import EngineFailed
from edge_asr.events import Failed, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.workload import ClipAudio


@dataclass(slots=True)
class Throughput:
    """What came out."""

    utterances: Thinned[Utterance] = field(default_factory=Thinned)
    audio_s: float = 0.0
    """Of the sources, all streams."""
    conversion_ns: int = 0
    total_ns: int = 0


def measure_throughput(
    rig: Rig, clips: Sequence[ClipAudio], *, least_audio_s: float, streams: int, most_s: float = math.inf
) -> Throughput:
    """Decode the clips, all of them and as often as it takes.

    Args:
        rig: What decodes; nothing else is open in it.
        clips: At least one.
        least_audio_s: Whole passes are made until so much audio was decoded.
        streams: Recordings decoded side by side; each stream begins the list at another place.
        most_s: No recording begins once so much time was spent; at least one is decoded.

    Raises:
        EngineFailed: The engine failed on a recording.
    """
    outcome = Throughput(Thinned(rig.notebook.most_utterances))
    while True:
        for first in range(len(clips)):
            together = [clips[(first + stream) % len(clips)] for stream in range(streams)]
            _decode_together(rig, together, outcome)
            rig.sample(outcome.audio_s, outcome.total_ns)
            if outcome.total_ns >= most_s * 1e9 or rig.is_stopping():
                return outcome
        if outcome.audio_s >= least_audio_s:
            return outcome


def stages_of(rig: Rig, outcome: Throughput) -> Stages:
    """The split of the time since ``rig.begin()``."""
    watch = rig.stopwatch
    is_streaming = rig.engine.describe().is_streaming
    # Whole segments are decoded by the model itself where it does not stream, and else by the second pass.
    model_ns, second_ns = (watch.decode_ns, watch.segment_ns) if is_streaming else (watch.segment_ns, 0)
    named_ns = outcome.conversion_ns + watch.accept_ns + watch.vad_ns + model_ns + second_ns
    return Stages(
        conversion_s=outcome.conversion_ns / 1e9,
        vad_s=watch.vad_ns / 1e9,
        features_s=watch.accept_ns / 1e9,
        model_s=model_ns / 1e9,
        second_pass_s=second_ns / 1e9,
        text_s=max(0, outcome.total_ns - named_ns) / 1e9,
        total_s=outcome.total_ns / 1e9,
    )


def warm_up(rig: Rig, clips: Sequence[ClipAudio], *, least_s: float, most_s: float) -> float:
    """Decode until steps take about equally long; the seconds of audio it took.

    The rule: at least ``least_s``, then until three steps in a row differ by less than 5 %, at most ``most_s``.

    Raises:
        EngineFailed: The engine failed on a recording.
    """
    outcome = Throughput()
    while outcome.audio_s < most_s:
        for clip in clips:
            _decode_together(rig, [clip], outcome)
            if outcome.audio_s >= most_s or (outcome.audio_s >= least_s and _is_steady(rig.engine.recent_ms)):
                return outcome.audio_s
    return outcome.audio_s


def _is_steady(recent_ms: Collection[float]) -> bool:
    return len(recent_ms) == STEADY_STEPS and max(recent_ms) <= 1.05 * min(recent_ms)


def _decode_together(rig: Rig, clips: Sequence[ClipAudio], outcome: Throughput) -> None:
    hearings = {f"stream-{stream}": Hearing() for stream in range(len(clips))}
    rig.engine.expect(lambda _position_s: rig.clock.now_ns())  # nobody waits: only the computing is of interest
    for name, clip in zip(hearings, clips, strict=True):
        options = SessionOptions(sample_rate_hz=clip.sample_rate_hz, language=rig.language, is_batch=True)
        rig.loop.open(name, options)
    wall_ns, cpu_ns = _run(rig, dict(zip(hearings, clips, strict=True)), hearings, outcome)
    audio_s = sum(clip.audio_s for clip in clips)
    outcome.audio_s += audio_s
    for stream, (clip, hearing) in enumerate(zip(clips, hearings.values(), strict=True)):
        errors, units = word_errors(clip.clip.reference, hearing.text, rig.language)
        share = clip.audio_s / audio_s
        outcome.utterances.add(
            Utterance(
                clip=clip.clip.name,
                stream=stream,
                audio_s=clip.audio_s,
                wall_s=share * wall_ns / 1e9,
                cpu_s=share * cpu_ns / 1e9,
                errors=errors,
                units=units,
                text=hearing.text,
                second_passes_skipped=hearing.second_passes_skipped,
            )
        )


def _run(rig: Rig, clips: dict[str, ClipAudio], hearings: dict[str, Hearing], outcome: Throughput) -> tuple[int, int]:
    """Wall and processor time of decoding the open sessions, nanoseconds; preparing pieces is not in it."""
    wall_ns, cpu_before = 0, rig.cpu_ns()
    for pieces in _rounds(clips, rig.piece_ms):
        started_ns = rig.clock.now_ns()
        for name, piece in pieces.items():
            if piece:
                rig.loop.feed_bytes(name, piece)
            else:
                rig.loop.finish(name)
        fed_ns = rig.clock.now_ns()
        events = _decode_all(rig)
        ended_ns = rig.clock.now_ns()
        outcome.conversion_ns += fed_ns - started_ns
        wall_ns += ended_ns - started_ns
        for event in events:
            if isinstance(event, Failed):
                raise EngineFailed(event.message)
            hearings[event.session_id].hear(event, ended_ns)
    outcome.total_ns += wall_ns
    return wall_ns, rig.cpu_ns() - cpu_before


def _decode_all(rig: Rig) -> list[TranscriptEvent]:
    while rig.loop.step():
        pass
    return rig.loop.take_events()


def _rounds(clips: dict[str, ClipAudio], piece_ms: int) -> Iterator[dict[str, bytes]]:
    """The next piece of every recording that goes on; an empty one says that it is over."""
    going = {name: clip.pieces(piece_ms) for name, clip in clips.items()}
    while going:
        pieces = {name: next(source, b"") for name, source in going.items()}
        yield pieces
        going = {name: source for name, source in going.items() if pieces[name]}
