"""Any non-streaming model as an engine: a voice activity detector says when, the model says what.

The detector only gates. It finds where speech begins and pauses; inside a stretch the model always gets the whole
audio from the beginning of speech, so that it has the context it was trained with. A stretch is decoded

* while it grows, every ``partial_interval_ms`` of new speech, where partials are wanted (and not so often that one
  stream takes more than its share of the processor);
* when it pauses for ``vad_silence_ms``, so that the text is there when the session's silence rule holds; for batch
  work only when the pause is about to close the segment, so that each stretch is decoded once;
* when the stream is finished, unless nothing was said since.

A stretch that becomes too long is cut: at the first lull once it is nearly too long, else at its quietest place since
then. There are no partials in that time, since what a partial has covered cannot be given to the next segment.

Decisions are made at fixed positions, every :data:`BLOCK_WINDOWS` windows, so they do not depend on how the audio was
cut into pieces.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from edge_asr.audio import Float32Array
from edge_asr.clock import Clock, MonotonicClock
from edge_asr.engines.audio_buffer import AudioBuffer
from edge_asr.engines.base import (
    BiasedDecoder,
    EngineDescription,
    EngineStream,
    Hypothesis,
    OpenEnded,
    SegmentDecoder,
    StreamOptions,
    Token,
    TokenBias,
    TokenConstraint,
)
from edge_asr.engines.decodable import decodable
from edge_asr.engines.samples import usable, window_levels_dbfs
from edge_asr.engines.stretch import Heard, StretchTracker
from edge_asr.engines.vad import WINDOW_S, WINDOW_SAMPLES, VoiceActivity
from edge_asr.errors import EngineFailed, ModelError
from edge_asr.settings import EngineSettings

BLOCK_WINDOWS = 5
"""Windows per step (0.16 s)."""

PRE_ROLL_WINDOWS = 10
"""Audio before the first window of speech that the model gets too (0.32 s): soft beginnings are heard late."""

TAIL_WINDOWS = 10
"""Audio after the last window of speech that the model gets too, where it is there."""

LULL_WINDOWS = 4
"""Silence that is good enough for a cut (0.13 s)."""

LONGEST_PARTIAL_S = 15.0
"""Longest stretch where partials are wanted: each of them decodes all of it again."""

LONGEST_BATCH_S = 28.0
"""Longest stretch otherwise."""

CUT_SEARCH = 0.2
"""Last part of the longest stretch, in which a place to cut is looked for."""

PARTIAL_SHARE = 0.4
"""Part of real time that partials of all streams together may take."""

SETTLING_S = 0.3
"""So long before a pause closes the segment the stretch is decoded, in batch work."""


@dataclass(frozen=True, slots=True)
class Pace:
    """When a stretch is decoded; in windows."""

    pause: int
    """Silence after which it is."""
    partial: int | None
    """New audio after which it is; ``None`` without partials."""
    nearly_too_long: int
    """Length from which it is cut at a lull."""
    longest: int
    """Length at which it is cut anywhere."""


def pace_of(settings: EngineSettings, options: StreamOptions, max_segment_s: float) -> Pace:
    """The pace for one stream."""
    pause_s = settings.vad_silence_ms / 1000
    if options.is_batch and not options.partials:
        pause_s = max(pause_s, options.closing_silence_ms / 1000 - SETTLING_S)
    longest_s = LONGEST_PARTIAL_S if options.partials else LONGEST_BATCH_S
    block_s = BLOCK_WINDOWS * WINDOW_S
    pre_roll_s = PRE_ROLL_WINDOWS * WINDOW_S
    longest = math.floor(min(longest_s, max_segment_s - block_s - pre_roll_s) / WINDOW_S)
    return Pace(
        pause=_windows(pause_s),
        partial=_windows(settings.partial_interval_ms / 1000) if options.partials else None,
        nearly_too_long=round(longest * (1 - CUT_SEARCH)),
        longest=longest,
    )


class SegmentedEngine:
    """A non-streaming model with a voice activity detector.

    Args:
        decoder: The model.
        description: What ``describe`` answers; the engine fills in what depends on it.
        settings: Intervals.
        open_activity: Makes the detector of a stream; called with whether the stream is batch work.
        clock: For keeping partials within their share of the processor.
        open_constrained: Makes what decodes under a constraint, when that is first asked for; ``None`` where the
            decoder itself does, or nothing can.
    """

    def __init__(
        self,
        decoder: SegmentDecoder,
        description: EngineDescription,
        settings: EngineSettings,
        open_activity: Callable[[bool], VoiceActivity],
        clock: Clock | None = None,
        open_constrained: Callable[[], SegmentDecoder] | None = None,
    ) -> None:
        self._open_constrained = open_constrained
        self._constrained = decoder if open_constrained is None else None
        self._decoder = decoder
        self._description = replace(description, sample_rate_hz=decoder.sample_rate_hz)
        self._settings = settings
        self._open_activity = open_activity
        self._clock = clock or MonotonicClock()
        self._idle: dict[bool, list[VoiceActivity]] = {False: [], True: []}
        self.open_streams = 0

    @property
    def sample_rate_hz(self) -> int:
        """The model's rate."""
        return self._decoder.sample_rate_hz

    def describe(self) -> EngineDescription:
        """What was loaded and what it runs on."""
        return self._description

    def open_stream(self, options: StreamOptions) -> SegmentedStream:
        """A stream with a detector of its own; detectors are used again."""
        thrifty = options.is_batch
        activity = self._idle[thrifty].pop() if self._idle[thrifty] else self._open_activity(thrifty)
        self.open_streams += 1

        def give_back() -> None:
            activity.reset()
            self._idle[thrifty].append(activity)
            self.open_streams -= 1

        pace = pace_of(self._settings, options, self._decoder.max_segment_s)
        return SegmentedStream(self, activity, pace, give_back, options.constraint, options.bias)

    def decode(self, streams: Sequence[EngineStream]) -> None:
        """One step of each stream, one after the other."""
        for stream in decodable(streams, SegmentedStream, self):
            stream.step()

    def recognize(
        self, samples: Float32Array, constraint: TokenConstraint | None = None, bias: TokenBias | None = None
    ) -> tuple[Hypothesis, float]:
        """Decode one stretch; its text, and the seconds it took. Phrases are expected in open speech only."""
        is_open = constraint is None and bias is None
        decoder = self._decoder if is_open else self._constrained_decoder()
        before_ns = self._clock.now_ns()
        if constraint is None and bias is not None and isinstance(decoder, BiasedDecoder):
            hypothesis = decoder.decode_biased(samples, bias)
        else:
            hypothesis = decoder.decode(samples, constraint)
        return hypothesis, (self._clock.now_ns() - before_ns) / 1e9

    def _constrained_decoder(self) -> SegmentDecoder:
        if self._constrained is None and self._open_constrained is not None:
            try:
                self._constrained = self._open_constrained()
            except ModelError as error:
                raise EngineFailed(f"spoken commands cannot be decoded: {error}") from error
        return self._constrained or self._decoder

    def close(self) -> None:
        """Free the detectors; the model goes with the last reference."""
        for idle in self._idle.values():
            idle.clear()


class SegmentedStream:
    """One stream of audio, cut into stretches of speech. Positions are samples since the stream was opened."""

    def __init__(
        self,
        engine: SegmentedEngine,
        activity: VoiceActivity,
        pace: Pace,
        give_back: Callable[[], None],
        constraint: TokenConstraint | None = None,
        bias: TokenBias | None = None,
    ) -> None:
        self.engine = engine
        self._bias = bias
        self._constraint = constraint
        self._open_constraint = constraint and OpenEnded(constraint)
        self._activity = activity
        self._pace = pace
        self._give_back = give_back
        self._audio = AudioBuffer()
        self._track = StretchTracker()
        self._hypothesis = Hypothesis("", (), 0)
        self._given_to = 0  # audio before this was given to the model in an earlier segment
        self._decoded_to = 0  # end of what the model was given last
        self._next_partial = 0  # no partial before this position
        self._is_settled = True  # nothing was said since the last decode at a pause
        self._earliest_s = 0.0  # no token is said to begin before
        self._is_finished = False
        self._is_drained = False  # finished, and everything decoded
        self._is_closed = False

    def accept(self, samples: Float32Array) -> None:
        """Take audio; it is only looked at in ``decode``."""
        if self._is_finished or self._is_closed:
            raise RuntimeError("the stream has been finished and takes no more audio")
        self._audio.append(usable(samples))

    def finish(self) -> None:
        """No more audio; nothing needs to be padded."""
        self._is_finished = True

    def is_ready(self) -> bool:
        """Whether a block of windows has not been looked at, or the end has not been decoded."""
        if self._is_closed or self._hypothesis.is_complete:
            return False
        if self._is_finished:
            return not self._is_drained
        return self._audio.end - self._position >= BLOCK_WINDOWS * WINDOW_SAMPLES

    def hypothesis(self) -> Hypothesis:
        """Text of the open stretch as it was last decoded."""
        return self._hypothesis

    def reset(self) -> None:
        """Begin a new segment at ``decoded_samples``; speech after it is kept."""
        done = self._hypothesis
        if done.tokens:
            self._earliest_s = done.tokens[-1].start_s
        self._given_to = max(self._given_to, min(self._decoded_to, done.decoded_samples))
        self._track.close_before(done.decoded_samples // WINDOW_SAMPLES)
        self._is_settled = self._track.speech_begin is None
        self._plan_partial(done.decoded_samples, 0.0)
        self._hypothesis = Hypothesis("", (), done.decoded_samples)

    def close(self) -> None:
        """Give the detector back."""
        if not self._is_closed:
            self._is_closed = True
            self._give_back()

    def step(self) -> None:
        """Look at the next block of windows and decode if one of the rules says so."""
        block = min(BLOCK_WINDOWS, (self._audio.end - self._position) // WINDOW_SAMPLES)
        has_more = self._audio.end - self._position >= BLOCK_WINDOWS * WINDOW_SAMPLES
        self._listen(self._audio.view(self._position, self._position + block * WINDOW_SAMPLES))
        if self._is_too_long():
            self._cut()
        elif self._is_finished and not has_more:
            self._decode_rest()
        elif self._track.speech_begin is None:
            self._move_to(self._position)
        elif self._track.silence >= self._pace.pause:
            self._decode_pause()
        elif self._is_partial_due():
            self._decode_to(self._position, self._open_constraint)
        self._forget()

    # What is heard.

    @property
    def _position(self) -> int:
        return self._track.position * WINDOW_SAMPLES

    @property
    def _length(self) -> int:
        """Of the open stretch, in windows, with its pre-roll."""
        return self._track.position - self._begin // WINDOW_SAMPLES

    @property
    def _begin(self) -> int:
        """Where the audio of the open stretch begins; its pre-roll never reaches into what was decoded before."""
        speech = self._track.speech_begin
        begin = self._track.position if speech is None else speech
        return max(self._given_to, (begin - PRE_ROLL_WINDOWS) * WINDOW_SAMPLES)

    def _listen(self, samples: Float32Array) -> None:
        was_open = self._track.speech_begin is not None
        for number, level in enumerate(window_levels_dbfs(samples, WINDOW_SAMPLES).tolist()):
            window = samples[number * WINDOW_SAMPLES : (number + 1) * WINDOW_SAMPLES]
            is_speech = self._activity.hears_speech(window, level)
            self._track.hear(Heard(level, is_speech))
            self._is_settled = self._is_settled and not is_speech
        if not was_open and self._track.speech_begin is not None:
            onset = self._track.speech_begin * WINDOW_SAMPLES
            self._move_to(onset)
            self._plan_partial(onset, 0.0)

    def _forget(self) -> None:
        self._audio.forget_before(self._begin)

    # What is decoded.

    def _is_too_long(self) -> bool:
        if self._track.speech_begin is None or self._length < self._pace.nearly_too_long:
            return False
        return self._length >= self._pace.longest or self._track.silence >= LULL_WINDOWS

    def _is_partial_due(self) -> bool:
        if self._pace.partial is None or self._track.silence >= LULL_WINDOWS:
            return False  # a pause decodes soon
        return self._position >= self._next_partial and self._length < self._pace.nearly_too_long

    def _plan_partial(self, position: int, took_s: float) -> None:
        """The next one an interval after ``position``, or later where decoding takes too large a share of the time."""
        if self._pace.partial is not None:
            share_s = took_s * self.engine.open_streams / PARTIAL_SHARE
            wait = max(self._pace.partial * WINDOW_SAMPLES, round(share_s * self.engine.sample_rate_hz))
            self._next_partial = position + wait

    def _decode_pause(self) -> None:
        if not self._is_settled:
            self._decode_to(
                min(self._position, (self._track.speech_end + TAIL_WINDOWS) * WINDOW_SAMPLES), self._constraint
            )
            self._is_settled = True
            if not self._hypothesis.text:  # a false alarm: the next stretch begins afresh
                self._given_to = self._decoded_to
                self._track.close_before(self._track.position)
        self._move_to(self._position)

    def _decode_rest(self) -> None:
        """The end of the audio; what does not fill a window belongs to the stretch that is open, if one is."""
        if not self._is_settled:
            self._decode_to(
                min(self._audio.end, (self._track.speech_end + TAIL_WINDOWS) * WINDOW_SAMPLES), self._constraint
            )
            self._is_settled = True
        self._move_to(self._audio.end)
        self._is_drained = True

    def _cut(self) -> None:
        """Complete the stretch: decode up to its quietest place of late, and keep the rest for the next segment."""
        if self._is_settled:
            self._move_to(self._position)
        else:
            is_lull = self._track.silence >= LULL_WINDOWS
            undecoded = self._hypothesis.decoded_samples // WINDOW_SAMPLES + 1
            nearly = self._begin // WINDOW_SAMPLES + self._pace.nearly_too_long
            earliest = max(undecoded, self._track.speech_end if is_lull else nearly)
            latest = self._track.position - 1
            self._decode_to(self._track.best_cut(min(earliest, latest), latest) * WINDOW_SAMPLES, self._constraint)
        self._hypothesis = replace(self._hypothesis, is_complete=True)

    def _decode_to(self, end: int, constraint: TokenConstraint | None) -> None:
        """Decode the open stretch from its beginning to ``end``."""
        begin = self._begin
        found, took_s = self.engine.recognize(self._audio.view(begin, end), constraint, self._bias)
        offset_s = begin / self.engine.sample_rate_hz
        path = found.path and replace(found.path, tokens=self._absolute(found.path.tokens, offset_s))
        self._decoded_to = end
        decoded_samples = max(self._hypothesis.decoded_samples, end)
        self._hypothesis = Hypothesis(found.text, self._absolute(found.tokens, offset_s), decoded_samples, path=path)
        self._plan_partial(self._position, took_s)

    def _absolute(self, tokens: Sequence[Token], offset_s: float) -> tuple[Token, ...]:
        """Tokens of a stretch with times since the stream was opened, which never go back."""
        starts = itertools.accumulate((offset_s + token.start_s for token in tokens), max, initial=self._earliest_s)
        next(starts)
        return tuple(replace(token, start_s=start_s) for token, start_s in zip(tokens, starts, strict=True))

    def _move_to(self, position: int) -> None:
        """Up to here it is known that nothing else was said."""
        if position > self._hypothesis.decoded_samples:
            self._hypothesis = replace(self._hypothesis, decoded_samples=position)


def _windows(seconds: float) -> int:
    return max(1, round(seconds / WINDOW_S))
