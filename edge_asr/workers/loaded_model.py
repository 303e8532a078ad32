"""What a loader hands to the worker: the engine, and what the manifest says about its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from edge_asr.commands.book import CommandBook
from edge_asr.commands.hotword_book import HotwordBook
from edge_asr.commands.hotwords import HotwordList
from edge_asr.commands.listening import OPEN_SPEECH, Listening
from edge_asr.engines.base import Engine


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

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences an operator should read."""
        return (*self.engine.describe().notes, *(self.hotwords.notes if self.hotwords else ()))

    @property
    def why_no_hotwords(self) -> str:
        """Why the hotwords of a session are ignored; empty where they are heeded."""
        return self.hotwords.why_not if self.hotwords else self.engine.describe().why_no_hotwords

    def expect(self, phrases: Sequence[str]) -> HotwordList:
        """What the engine is told to expect in a session that brings these hotwords."""
        return self.hotwords.of_session(phrases) if self.hotwords else HotwordList()

    def prepare(self, commands: str | None) -> None:
        """Read a session's commands ahead of :meth:`listen`, on another thread."""
        if self.commands:
            self.commands.prepare(commands)

    def listen(self, commands: str | None) -> Listening:
        """What a session listens for that asks for these commands.

        Raises:
            ProtocolViolation: They cannot be used.
        """
        return self.commands.listening(commands) if self.commands else OPEN_SPEECH
