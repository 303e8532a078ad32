"""What a loader hands to the worker: the engine, and what the manifest says about its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from edge_asr.clock import Clock
from edge_asr.commands.book import CommandBook
from edge_asr.commands.hotword_book import HotwordBook
from edge_asr.commands.hotwords import HotwordList
from edge_asr.commands.listening import OPEN_SPEECH, Listening
from edge_asr.engines.base import Engine, SegmentDecoder, Spotter
from edge_asr.engines.embedding_pass import Embedder, EmbeddingModel, InlineEmbedding
from edge_asr.engines.second_pass import InlinePass, SecondPass
from edge_asr.pipeline.confidence import AS_SAID, Calibration
from edge_asr.pipeline.writing import Writing, WritingBook
from edge_asr.requests import SessionOptions
from edge_asr.sessions.second_hearing import SecondHearing
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import SecondPassSettings, Settings, TextSettings
from edge_asr.workers.configuration import WorkerConfiguration
from edge_asr.workers.speaker_loading import LoadedSpeakers


@dataclass(frozen=True, slots=True)
class SecondModel:
    """A non-streaming model behind a streaming one."""

    decoder: SegmentDecoder
    text_case: Literal["as_is", "lower"]
    writes_sentences: bool = False
    """Whether it writes capitals and punctuation itself."""
    name: str = ""
    """In the store."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """An engine that has decoded something."""

    engine: Engine
    languages: tuple[str, ...]
    """BCP 47 tags."""
    text_case: Literal["as_is", "lower"] = "as_is"
    """``lower`` for models that only write capitals."""
    words_note: str = ""
    """What the model cannot hear, in one sentence; empty for one that hears anything."""
    commands: CommandBook | None = None
    """What spoken commands are understood with; ``None`` where nobody can ask for them."""

    hotwords: HotwordBook | None = None
    """What hotwords are spelled with; ``None`` where nobody can bring any."""
    writing: WritingBook = field(default_factory=lambda: WritingBook(TextSettings(), ()))
    """What texts are written with."""
    second: SecondModel | None = None
    """What hears segments again; ``None`` for nothing."""
    open_spotter: Callable[[], Spotter] | None = None
    """Makes what hears the wake words of one live session; ``None`` where none are needed."""
    speakers: LoadedSpeakers | None = None
    """What tells speakers apart; ``None`` for nothing."""
    calibration: Calibration = AS_SAID
    """Of the confidence that the model gives words."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences an operator should read."""
        speakers = (self.speakers.note,) if self.speakers and self.speakers.note else ()
        hotwords = self.hotwords.notes if self.hotwords else ()
        return (*self.engine.describe().notes, *hotwords, *self.writing.notes, *speakers)

    @property
    def why_no_hotwords(self) -> str:
        """Why the hotwords of a session are ignored; empty where they are heeded."""
        return self.hotwords.why_not if self.hotwords else self.engine.describe().why_no_hotwords

    def expect(self, phrases: Sequence[str], besides: Sequence[str] = ()) -> HotwordList:
        """What the engine is told to expect in a session that brings these hotwords, and listens for these words."""
        return self.hotwords.of_session(phrases, besides) if self.hotwords else HotwordList()

    def write(self, options: SessionOptions) -> Writing:
        """What the texts of a session with these options go through."""
        return self.writing.of_session(options)

    def understanding(
        self,
        settings: Settings | WorkerConfiguration,
        clock: Clock,
        hear_again: Callable[[SegmentDecoder], SecondPass] = InlinePass,
        name_speakers: Callable[[EmbeddingModel], Embedder] = InlineEmbedding,
    ) -> Understanding:
        """What sessions make of what the engine hears.

        Args:
            settings: How long finals are waited for.
            clock: What that is measured with.
            hear_again: Where and when the second model decodes; in its turn if not said.
            name_speakers: Likewise of the model that tells speakers apart.
        """
        speakers = self.speakers.hearing(name_speakers, settings.speakers, clock) if self.speakers else None
        return Understanding(
            text_case=self.text_case,
            calibration=self.calibration,
            listen=self.listen,
            expect=self.expect,
            write=self.write,
            second_hearing=self.hear_again(hear_again, settings.second_pass, clock),
            speaker_hearing=speakers,
        )

    def hear_again(
        self, make: Callable[[SegmentDecoder], SecondPass], settings: SecondPassSettings, clock: Clock
    ) -> SecondHearing | None:
        """What hears each segment again for its final; ``None`` for nothing.

        Args:
            make: Where and when the second model decodes.
            settings: How long finals are waited for.
            clock: What that is measured with.
        """
        if self.second is None:
            return None
        return SecondHearing(make(self.second.decoder), settings, self.second.text_case, clock)

    def takes_preparing(self, options: SessionOptions) -> bool:
        """Whether :meth:`prepare` takes long."""
        return bool(options.commands) or self.writing.takes_preparing(options)

    def prepare(self, options: SessionOptions) -> None:
        """Read and load what a session needs ahead of its opening, on another thread."""
        if self.commands:
            self.commands.prepare(options.commands)
        self.writing.of_session(options)

    def listen(self, commands: str | None) -> Listening:
        """What a session listens for that asks for these commands.

        Raises:
            ProtocolViolation: They cannot be used.
        """
        return self.commands.listening(commands) if self.commands else OPEN_SPEECH
