"""Streaming recognisers as engines: what sherpa-onnx's ``OnlineRecognizer`` offers, made safe.

A native recogniser ends the process or corrupts memory when it is asked for the wrong thing: decoding a stream that is
not ready, no stream, one stream twice, another sampling rate. Nothing of that is reachable through this module. Its
endpoint detection is off; sessions have their own rules.

:mod:`edge_asr.engines.sherpa_online` loads sherpa-onnx's own recognisers, :mod:`edge_asr.engines.ort_recognizer` is one
of ours with the same methods. With a decoding graph that can reject, what is no sentence of its grammar is no text.

A stream that is never reset grows (its result is copied at every look): sessions reset at their maximum length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from edge_asr.audio import Float32Array
from edge_asr.engines.base import EngineDescription, EngineStream, Hypothesis, StreamOptions, Token
from edge_asr.engines.crew import Crew
from edge_asr.engines.decodable import decodable
from edge_asr.engines.decoding_graph import Rejection
from edge_asr.engines.hotword_tokens import native_hotwords
from edge_asr.engines.native_rules import has_rules, spelled
from edge_asr.engines.native_text import text_of
from edge_asr.engines.providers import ProviderChoice
from edge_asr.engines.samples import usable
from edge_asr.errors import EngineFailed, ModelDamaged, ModelUnsupported
from edge_asr.families import ModelFamily
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings

EMISSION_DELAY_S = 0.4
"""How long after a sound a streaming model may still emit its token; part of the tail padding."""

PIECE_S = 1.0
"""Longest piece given to the native engine at once: ten minutes in one call cost 0.7 s and 90 MB (x86-64)."""

LONGEST_WINDOW_S = 20.0
"""A model that is not ready after so much silence never will be."""


@dataclass(frozen=True, slots=True)
class Steps:
    """How a model moves through audio, measured; samples at its rate."""

    window_samples: int
    """Audio before the first step is possible: the chunk and its right context."""
    shift_samples: int
    """Audio from one step to the next."""


def measure_steps(recognizer: Any, sample_rate_hz: int, model: str) -> Steps:  # noqa: ANN401  native and untyped
    """Feed silence, 10 ms at a time, until a first and a second step are possible.

    Raises:
        ModelUnsupported: The model is never ready.
    """
    silence = [0.0] * (sample_rate_hz // 100)
    stream = recognizer.create_stream()
    window_samples = 0
    for piece in range(1, round(LONGEST_WINDOW_S * 100) + 1):
        stream.accept_waveform(sample_rate_hz, silence)
        if not recognizer.is_ready(stream):
            continue
        if window_samples:
            return Steps(window_samples, piece * len(silence) - window_samples)
        window_samples = piece * len(silence)
        recognizer.decode_stream(stream)
    raise ModelUnsupported(model, f"it decodes nothing within {LONGEST_WINDOW_S:.0f} s of audio")


def padding_samples(steps: Steps, end_samples: int, delay_samples: int) -> int:
    """Silence that makes the engine decode up to ``end_samples`` and its tokens come out.

    Args:
        steps: The model's steps.
        end_samples: Audio so far, left padding included.
        delay_samples: How much later than its sound a token may come.
    """
    needed_steps = math.ceil((end_samples + delay_samples) / steps.shift_samples)
    return max(0, (needed_steps - 1) * steps.shift_samples + steps.window_samples - end_samples)


class OnlineEngine:
    """A loaded streaming model."""

    def __init__(
        self,
        recognizer: Any,  # noqa: ANN401  native and untyped, or our own of the same shape
        manifest: ModelManifest,
        family: ModelFamily,
        settings: EngineSettings,
        choice: ProviderChoice,
        has_graph: bool = False,
        rejection: Rejection | None = None,
        named_tokens: int = 0,
        takes_batches: bool = True,
        provider_share: float | None = None,
    ) -> None:
        self._provider_share = provider_share
        self._takes_batches = takes_batches
        self._named_tokens = named_tokens
        self.rejection = rejection
        self._has_graph = has_graph
        self._recognizer = recognizer
        self._manifest = manifest
        self._family = family
        self._settings = settings
        self.has_rules = has_rules(settings)
        """Whether the engine rewrites its text."""
        self._choice = choice
        self.steps = _measured(recognizer, manifest)
        self._crew = Crew(settings.parallel_streams if isinstance(settings.parallel_streams, int) else 1)
        self.left_padding_samples = self._samples(settings.left_padding_ms / 1000)
        self.delay_samples = self._samples(EMISSION_DELAY_S)

    @property
    def sample_rate_hz(self) -> int:
        """The rate of the model's features."""
        return self._manifest.sample_rate_hz

    def describe(self) -> EngineDescription:
        """What was loaded and what it runs on."""
        longest_tail_samples = self.steps.window_samples + self.delay_samples  # see padding_samples
        return EngineDescription(
            model=self._manifest.name,
            family=self._family.name,
            provider=self._choice.label,
            threads=self._settings.threads,
            sample_rate_hz=self.sample_rate_hz,
            chunk_ms=1000 * self.steps.shift_samples / self.sample_rate_hz,
            tail_padding_ms=1000 * longest_tail_samples / self.sample_rate_hz,
            is_streaming=True,
            is_append_only=self._is_append_only(),
            notes=self._choice.notes,
            may_skip_silence=True,
            may_imagine=True,
            first_step_ms=1000 * (self.steps.window_samples - self.left_padding_samples) / self.sample_rate_hz,
            streams_per_step=0 if self._can_batch() else self._crew.size,
            why_no_hotwords=self._family.why_no_hotwords(self._settings.decoding_method),
            provider_share=self._provider_share,
        )

    def open_stream(self, options: StreamOptions) -> OnlineStream:
        """A fresh decoding state.

        Raises:
            ValueError: There are hotwords and the model takes none, or not these; they would end the process.
        """
        native = self._recognizer.create_stream(*self._hotwords(options))
        if options.language:
            native.set_option("language", options.language)  # multilingual models look at it, others do not
        return OnlineStream(self, self._recognizer, native)

    def decode(self, streams: Sequence[EngineStream]) -> None:
        """One step of each stream, in one run where the family can, and on as many threads as there are."""
        ours = decodable(streams, OnlineStream, self)
        try:
            self._crew.share(self._decode_natives, [stream.native for stream in ours])
        except (RuntimeError, IndexError) as error:
            raise EngineFailed(str(error)) from error
        for stream in ours:
            stream.count_step()

    def close(self) -> None:
        """Free the model; streams that are still open keep it alive until they are closed."""
        self._crew.close()
        self._recognizer = None

    def _decode_natives(self, natives: Sequence[Any]) -> None:
        if self._can_batch() and len(natives) > 1:
            self._recognizer.decode_streams(natives)
            return
        for native in natives:
            self._recognizer.decode_stream(native)

    def _can_batch(self) -> bool:
        # Dynamic 8-bit quantization takes one scale over the whole batch, so a stream's text would depend on who else
        # is talking: 17 of 96 prompts came out differently beside seven others, for a fifth less CPU (starter-en).
        is_same_text = self._manifest.precision not in ("int8", "mixed")
        return self._takes_batches and self._family.batches and (is_same_text or self._settings.batch_int8)

    def _hotwords(self, options: StreamOptions) -> tuple[str, ...]:
        if not options.hotwords:
            return ()
        if why_not := self._family.why_no_hotwords(self._settings.decoding_method):
            raise ValueError(why_not)
        return (native_hotwords(options.hotwords, self._named_tokens),)

    def _is_append_only(self) -> bool:
        return self._settings.decoding_method == "greedy_search" and not self._has_graph and not self.has_rules

    def _samples(self, seconds: float) -> int:
        return round(seconds * self.sample_rate_hz)


class OnlineStream:
    """One decoding state, with times that count from the first sample the caller gave."""

    def __init__(self, engine: OnlineEngine, recognizer: Any, native: Any) -> None:  # noqa: ANN401
        self.engine = engine
        self.native = native
        self._recognizer = recognizer
        self._accepted = 0  # samples, padding excluded
        self._fed = 0  # samples, padding included
        self._steps = 0
        self._steps_at_reset = 0
        self._is_finished = False
        self._earliest_s = 0.0  # no token of this segment is said to begin before
        self._hypothesis = Hypothesis("", (), 0)
        self._looked_at_step = 0
        self._first_seen_s: list[float] = []

    def accept(self, samples: Float32Array) -> None:
        """Take audio; a long array is given on in pieces."""
        if self._is_finished or self.native is None:
            raise RuntimeError("the stream has been finished and takes no more audio")
        samples = usable(samples)
        if not len(samples):
            return
        if not self._fed:
            self._feed_silence(self.engine.left_padding_samples)
        piece_samples = round(PIECE_S * self.engine.sample_rate_hz)
        for start in range(0, len(samples), piece_samples):
            piece = samples[start : start + piece_samples]
            # A list crosses into the native engine ten times faster than an array (0.09 ms against 0.85 ms a second).
            self.native.accept_waveform(self.engine.sample_rate_hz, piece.tolist())
        self._accepted += len(samples)
        self._fed += len(samples)

    def finish(self) -> None:
        """Pad by the model's own window and let the last tokens come out."""
        if self._is_finished or self.native is None:
            return
        self._is_finished = True
        if self._accepted:
            self._feed_silence(padding_samples(self.engine.steps, self._fed, self.engine.delay_samples))
        self.native.input_finished()

    def is_ready(self) -> bool:
        """Whether a step is possible."""
        return self.native is not None and bool(self._recognizer.is_ready(self.native))

    def count_step(self) -> None:
        """The engine has decoded one step."""
        self._steps += 1

    def hypothesis(self) -> Hypothesis:
        """Text and tokens since the last reset.

        Raises:
            EngineFailed: The token table lacks a token that the model emitted.
        """
        if self.native is not None and self._looked_at_step != self._steps:
            self._hypothesis = self._look()
            self._looked_at_step = self._steps
        return self._hypothesis

    def reset(self) -> None:
        """Begin a new segment."""
        if self.native is None:
            return
        if self._hypothesis.tokens:
            self._earliest_s = self._hypothesis.tokens[-1].start_s
        self._recognizer.reset(self.native)
        self._steps_at_reset = self._looked_at_step = self._steps
        self._first_seen_s.clear()
        self._hypothesis = Hypothesis("", (), self._decoded_samples())

    def close(self) -> None:
        """Give the native state back."""
        self.native = None

    def _look(self) -> Hypothesis:
        decoded = self._decoded_samples()
        try:
            result = self._recognizer.get_result_all(self.native)
            if self.engine.rejection and self.engine.rejection.rejects(result.tokens):
                return Hypothesis("", (), decoded)
            raw_text = spelled(result.tokens) if self.engine.has_rules else None
            return Hypothesis(text_of(result).strip(), self._tokens(result), decoded, raw_text=raw_text)
        except UnicodeDecodeError:
            # A model that writes bytes is in the middle of a character; the next step brings the rest.
            return replace(self._hypothesis, decoded_samples=decoded)
        except (RuntimeError, IndexError) as error:
            raise EngineFailed(f"the result cannot be read ({error}); is tokens.txt the model's own?") from error

    def _feed_silence(self, samples: int) -> None:
        if samples:
            self.native.accept_waveform(self.engine.sample_rate_hz, [0.0] * samples)
            self._fed += samples

    def _decoded_samples(self) -> int:
        decoded = self._steps * self.engine.steps.shift_samples - self.engine.left_padding_samples
        return min(max(0, decoded), self._accepted)

    def _tokens(self, result: Any) -> tuple[Token, ...]:  # noqa: ANN401  native and untyped
        texts: list[str] = result.tokens
        log_probs: Sequence[float | None] = result.ys_probs
        if len(log_probs) != len(texts):
            log_probs = [None] * len(texts)
        tokens = []
        earliest_s = self._earliest_s
        for text, start_s, log_prob in zip(texts, self._start_times(result), log_probs, strict=True):
            earliest_s = max(earliest_s, start_s)
            tokens.append(Token(text, earliest_s, None if log_prob is None else min(0.0, log_prob)))
        return tuple(tokens)

    def _start_times(self, result: Any) -> list[float]:  # noqa: ANN401  native and untyped
        """Seconds since the stream's first sample, one for each token.

        The engine counts from the last reset, and from the left padding; it gives Paraformer no times at all.
        """
        count = len(result.tokens)
        if len(result.timestamps) >= count:
            offset_samples = self._steps_at_reset * self.engine.steps.shift_samples - self.engine.left_padding_samples
            offset_s = offset_samples / self.engine.sample_rate_hz
            return [max(0.0, offset_s + time_s) for time_s in result.timestamps[:count]]
        return self._times_of_arrival(count)

    def _times_of_arrival(self, count: int) -> list[float]:
        """Tokens that came since the last look are spread over the audio decoded since then."""
        rate = self.engine.sample_rate_hz
        since_s, now_s = self._hypothesis.decoded_samples / rate, self._decoded_samples() / rate
        new = count - len(self._first_seen_s)
        self._first_seen_s += [since_s + (now_s - since_s) * index / new for index in range(new)]
        return self._first_seen_s[:count]


def _measured(recognizer: Any, manifest: ModelManifest) -> Steps:  # noqa: ANN401  native and untyped
    try:
        return measure_steps(recognizer, manifest.sample_rate_hz, manifest.name)
    except RuntimeError as error:
        raise ModelDamaged(manifest.name, f"it loads but cannot decode: {' '.join(str(error).split())}") from error
