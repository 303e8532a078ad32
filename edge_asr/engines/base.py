"""The engine contract: what every recogniser behind edge-asr promises, whatever it runs on.

One contract suite (``tests/engines/test_contract.py``) runs against every implementation:

* any cutting of the same audio into pieces gives the same final text;
* decoding streams together gives what decoding them one by one gives;
* ``finish`` loses no audio: the tail is padded by what the model itself needs;
* times are absolute (seconds since the stream's first accepted sample, padding excluded) and never go back, also
  across ``reset``;
* empty, non-finite or very short input neither raises nor spoils later text;
* a stream is used by one thread, the engine's ``decode`` by one thread at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.families import NO_HOTWORDS


@dataclass(frozen=True, slots=True)
class Token:
    """One unit of the model's vocabulary as it was recognised."""

    text: str
    """As the model writes it; a leading space (or U+2581) begins a word."""
    start_s: float
    """Seconds since the stream's first sample; for streaming models the emission frame."""
    log_prob: float | None = None
    """Natural logarithm of the probability, at most 0; ``None`` where the engine gives none."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What the engine makes of the stream's audio since the last ``reset``."""

    text: str
    tokens: tuple[Token, ...]
    decoded_samples: int
    """Samples covered by this hypothesis since the stream was opened, padding excluded; never goes back."""
    is_complete: bool = False
    """The engine cannot take more audio into this hypothesis (a non-streaming model's longest stretch): close the
    segment and ``reset``; audio after ``decoded_samples`` is kept for the next one."""
    path: ConstrainedPath | None = None
    """What a constraint made of it; ``text`` and ``tokens`` are the free decode all the same."""
    raw_text: str | None = None
    """What the tokens say, where rules of the engine have made another ``text`` of it; else ``None``."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """What the model says of the speech besides its words: ``language``, ``emotion``, ``event``."""

    def later(self, seconds: float, decoded_samples: int) -> Hypothesis:
        """The same text, its tokens so much later, as part of more audio."""
        tokens = tuple(replace(token, start_s=token.start_s + seconds) for token in self.tokens)
        return replace(self, tokens=tokens, decoded_samples=decoded_samples)


EMPTY_HYPOTHESIS = Hypothesis("", (), 0)


@dataclass(frozen=True, slots=True)
class Hotword:
    """A word or phrase to be expected, as the model would write it."""

    tokens: tuple[int, ...]
    """Token ids, at least one, each of the model's vocabulary."""
    boost: float
    """What each of its tokens gains when it follows the one before; natural logarithm."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What one stream asks of the engine."""

    partials: bool = True
    """Whether hypotheses before the end of a segment are wanted; without them a non-streaming model decodes an open
    stretch of speech only where it pauses."""
    language: str = ""
    is_batch: bool = False
    """Nobody waits for the text: a non-streaming model lets short pauses pass and decodes every stretch once."""
    closing_silence_ms: int = 1200
    """Silence that closes a segment; the text of the stretch before it is ready by then."""
    constraint: TokenConstraint | None = None
    """What spoken commands may be; only for engines that ``takes_constraints``."""
    hotwords: tuple[Hotword, ...] = ()
    """What to expect; only for engines without ``why_no_hotwords``."""
    bias: TokenBias | None = None
    """The same for engines that ``takes_constraints``; they do not look at ``hotwords``."""


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """What was loaded and what it really runs on."""

    model: str
    """Store name of the model."""
    family: str
    provider: str
    """The provider that really ran in the warm-up, not the one that was asked for."""
    threads: int
    sample_rate_hz: int
    chunk_ms: float
    """Audio per decoding step, measured; 0 for non-streaming models."""
    tail_padding_ms: float
    """Silence that ``finish`` appends, measured at load."""
    is_streaming: bool
    """Whether state is carried from chunk to chunk (else partials are decoded anew)."""
    is_append_only: bool = False
    """Whether the text of a segment only ever grows (greedy decoding of a streaming model without a graph)."""
    takes_constraints: bool = False
    """Whether streams can be held to spoken commands."""
    why_no_hotwords: str = NO_HOTWORDS
    """Why streams take no hotwords; empty where they do."""
    notes: tuple[str, ...] = ()
    """Sentences an operator should read (a fallback that was allowed, a missing graph)."""
    may_skip_silence: bool = False
    """Whether long silence may be kept from its streams: the text depends on what is said, not on how long nothing is,
    and after ``tail_padding_ms`` of silence everything has been said."""
    may_imagine: bool = False
    """Whether it may write words for silence, noise and tones: what nobody can have said is not passed on."""
    first_step_ms: float = 0.0
    """Audio that a fresh stream needs for its first step, negative where it begins with more silence than that takes;
    one more is possible after each ``chunk_ms``."""
    streams_per_step: int = 0
    """Streams that one ``decode`` takes in less time than one after the other; 0 for as many as there are."""
    provider_share: float | None = None
    """Part of the model's operators that the provider runs, 0 to 1, the CPU the rest; nothing where no engine says."""


class EngineStream(Protocol):
    """One decoding state; owned by one thread."""

    def accept(self, samples: Float32Array) -> None:
        """Take audio: mono PCM at the engine's rate, shape (n,), finite, nominal range [-1, 1]; n may be 0.

        Accepting after :meth:`finish` is a ``RuntimeError``.
        """
        ...

    def finish(self) -> None:
        """No more audio: pad by the model's own chunk and right context, so that ``decode`` reaches the end."""
        ...

    def is_ready(self) -> bool:
        """Whether :meth:`Engine.decode` can do one step on this stream now."""
        ...

    def hypothesis(self) -> Hypothesis:
        """The text since the last reset; cheap when nothing was decoded since the last call."""
        ...

    def reset(self) -> None:
        """Begin a new segment after an endpoint; audio not yet decoded is kept, times go on."""
        ...

    def close(self) -> None:
        """Give the state back; the stream is not used again. Closing twice is allowed."""
        ...


class Engine(Protocol):
    """A loaded model."""

    @property
    def sample_rate_hz(self) -> int:
        """Rate at which :meth:`EngineStream.accept` takes audio."""
        ...

    def describe(self) -> EngineDescription:
        """What was loaded and what it runs on."""
        ...

    def open_stream(self, options: StreamOptions) -> EngineStream:
        """A fresh decoding state."""
        ...

    def decode(self, streams: Sequence[EngineStream]) -> None:
        """One step of each stream; all must be ready and none may appear twice, else ``ValueError``.

        Raises:
            EngineFailed: The native engine raised; the streams of this call should be closed.
        """
        ...

    def close(self) -> None:
        """Free the model."""
        ...


@dataclass(frozen=True, slots=True)
class Following:
    """The tokens that may come next."""

    tokens: npt.NDArray[np.int64]
    """Token ids, shape (n,), none twice."""
    states: npt.NDArray[np.int64]
    """State of the constraint behind each, shape (n,)."""


class TokenConstraint(Protocol):
    """Which tokens may come next; implemented by ``commands/`` (declared here so that engines know no grammar).

    A state stands for everything that was said so far; states are numbers and last until the next ``begin``.
    """

    def begin(self) -> int:
        """The state in which nothing was said."""
        ...

    def following(self, state: int) -> Following:
        """What may come next."""
        ...

    def may_end(self, state: int) -> bool:
        """Whether the text may end here."""
        ...


@dataclass(frozen=True, slots=True)
class Gains:
    """What the next token gains."""

    tokens: npt.NDArray[np.int64]
    """Ids of tokens that go on with a phrase, begin one or spoil one, shape (n,), none twice."""
    states: npt.NDArray[np.int64]
    """State of the bias behind each, shape (n,)."""
    gains: npt.NDArray[np.float32]
    """Nats that each gains, shape (n,)."""
    otherwise: float
    """Of every other token, 0 or less; behind it no phrase has begun."""


class TokenBias(Protocol):
    """Phrases to be expected; implemented by ``commands/``. A state is how far a phrase has come."""

    @property
    def most(self) -> float:
        """The most that one phrase gains, nats."""
        ...

    def begin(self) -> int:
        """The state in which no phrase has begun."""
        ...

    def gains(self, state: int) -> Gains:
        """What may come next."""
        ...

    def at_end(self, state: int) -> float:
        """What the end of the text gains, 0 or less."""
        ...

    def is_in(self, text: str) -> bool:
        """Whether one of the phrases stands in a text."""
        ...


class OpenEnded:
    """A constraint under which a text may end anywhere: for speech that goes on."""

    def __init__(self, constraint: TokenConstraint) -> None:
        self._constraint = constraint

    def begin(self) -> int:
        """The constraint's."""
        return self._constraint.begin()

    def following(self, state: int) -> Following:
        """The constraint's."""
        return self._constraint.following(state)

    def may_end(self, _state: int) -> bool:
        """Always."""
        return True


@dataclass(frozen=True, slots=True)
class ConstrainedPath:
    """The best text that a constraint allows, beside what the model would have written."""

    text: str
    tokens: tuple[Token, ...]
    log_prob: float
    """Natural logarithm of the probability of the whole text, its end included."""
    open_log_prob: float
    """The same of the free decode; ``log_prob`` is rarely greater."""


@dataclass(frozen=True, slots=True)
class Spotted:
    """A wake word was heard."""

    phrase: str
    """As it is configured."""
    samples_ago: int
    """Audio that was given since it ended."""


class Spotter(Protocol):
    """Listens for wake words in one stream of audio."""

    def hear(self, samples: Float32Array) -> Spotted | None:
        """The next audio, mono PCM, shape (n,), finite; the phrase that was just heard in it."""
        ...

    def begin(self) -> None:
        """What comes next does not follow on."""
        ...


class SegmentDecoder(Protocol):
    """A non-streaming model: one stretch of speech in, its text out."""

    @property
    def sample_rate_hz(self) -> int:
        """Rate at which :meth:`decode` takes audio."""
        ...

    @property
    def max_segment_s(self) -> float:
        """Longest stretch the model was made for, seconds."""
        ...

    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:
        """Recognise one stretch: mono PCM at ``sample_rate_hz``, shape (n,), finite; n may be 0 (empty text).

        With a constraint the hypothesis also has the best ``path`` under it.
        Token times are relative to the first sample. ``decoded_samples`` is n.
        """
        ...


@runtime_checkable
class BiasedDecoder(Protocol):
    """A ``SegmentDecoder`` that can be told what to expect."""

    def decode_biased(self, samples: Float32Array, bias: TokenBias) -> Hypothesis:
        """As :meth:`SegmentDecoder.decode` without a constraint, preferring these phrases where they may have been
        said."""
        ...
