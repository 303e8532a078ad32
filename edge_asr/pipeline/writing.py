"""What becomes of a final's text before it is given out: stages, each from text to text. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from edge_asr.errors import ConfigurationError, ModelError
from edge_asr.languages import primary
from edge_asr.pipeline.itn import WITH_TABLES, InverseNormaliser, known, require_tables
from edge_asr.pipeline.sentence_case import capitalised, is_unwritten
from edge_asr.requests import SessionOptions
from edge_asr.settings import TextSettings

NO_NUMBERS = "numbers are written as they are said: figures are for English, Chinese and Japanese only"
NO_MARKS = "finals get capitals and no punctuation: there is a punctuation model for English only"
NO_MODEL = "finals get capitals and no punctuation: install the model, `edge-asr models pull punctuation-en`"


class Writer(Protocol):
    """One stage, or all of them."""

    def write(self, text: str) -> str:
        """The text as it is to be given out."""
        ...


class AsHeard:
    """No stage."""

    def write(self, text: str) -> str:
        """As it is."""
        return text


AS_HEARD = AsHeard()


@dataclass(frozen=True, slots=True)
class InOrder:
    """Stages one after the other."""

    stages: tuple[Writer, ...]

    def write(self, text: str) -> str:
        """Through all of them."""
        for stage in self.stages:
            text = stage.write(text)
        return text


@dataclass(frozen=True, slots=True)
class Punctuated:
    """Capitals and punctuation where the model writes neither."""

    punctuate: Writer
    """Writes capitals and punctuation into a text that has none."""

    def write(self, text: str) -> str:
        """The text as it is where it is written already."""
        return self.punctuate.write(text) if text and is_unwritten(text) else text


@dataclass(frozen=True, slots=True)
class Capitalised:
    """What is certain without a model: the first word, "I", the days of the week."""

    is_english: bool

    def write(self, text: str) -> str:
        """With capitals."""
        return capitalised(text, is_english=self.is_english)


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that a session asked for and does not get."""

    code: Literal["itn_ignored", "punctuation_ignored"]
    why: str


@dataclass(frozen=True, slots=True)
class Writing:
    """What the texts of one session go through."""

    writer: Writer = AS_HEARD
    ignored: tuple[Ignored, ...] = ()


class WritingBook:
    """What the texts of a model's sessions go through, by the configuration and by what each session asks for.

    Args:
        settings: What is done where a session does not say.
        languages: BCP 47 tags of what the model hears.
        load_punctuation: Loads what writes capitals and punctuation into English, when that is first asked for;
            ``None`` where no such model is installed.
        is_written: Whether the model writes capitals and punctuation itself, so that nobody misses them.

    Raises:
        ConfigurationError: Something is configured that is not installed.
    """

    def __init__(
        self,
        settings: TextSettings,
        languages: Sequence[str],
        load_punctuation: Callable[[], Writer] | None = None,
        *,
        is_written: bool = False,
    ) -> None:
        self._settings = settings
        self._languages = tuple(languages)
        self._load_punctuation = load_punctuation
        self._is_written = is_written
        self._punctuate: Writer | Ignored | None = None
        if settings.itn:
            require_tables(languages)
        standing = self.of_session(SessionOptions())
        self.notes = tuple(ignored.why for ignored in standing.ignored)

    @property
    def is_rewriting(self) -> bool:
        """Whether finals say it otherwise than the partials before them, unless a session asks for the contrary."""
        return self._settings.itn or self._settings.punctuation

    def of_session(self, options: SessionOptions) -> Writing:
        """What the texts of a session go through."""
        languages = self._languages_of(options)
        is_wanted = {
            "punctuation": self._settings.punctuation if options.punctuation is None else options.punctuation,
            "itn": self._settings.itn if options.itn is None else options.itn,
        }
        stages = (*self._punctuation(languages, is_wanted["punctuation"]), *_numbers(languages, is_wanted["itn"]))
        writers = tuple(stage for stage in stages if not isinstance(stage, Ignored))
        ignored = tuple(stage for stage in stages if isinstance(stage, Ignored))
        return Writing(InOrder(writers) if writers else AS_HEARD, ignored)

    def takes_preparing(self, options: SessionOptions) -> bool:
        """Whether :meth:`of_session` may load tables or a model, which takes seconds on a small board."""
        needs_tables = WITH_TABLES.intersection(known(self._languages_of(options)))
        needs_model = self._load_punctuation is not None and self._punctuate is None
        return bool((options.itn and needs_tables) or (options.punctuation and needs_model))

    def _languages_of(self, options: SessionOptions) -> tuple[str, ...]:
        return (options.language,) if options.language else self._languages

    def _punctuation(self, languages: Sequence[str], is_wanted: bool) -> Iterator[Writer | Ignored]:
        if not is_wanted:
            return
        is_english = "en" in map(primary, languages)
        punctuate = self._loaded() if is_english else Ignored("punctuation_ignored", NO_MARKS)
        if isinstance(punctuate, Ignored):
            yield Punctuated(Capitalised(is_english))
            if not self._is_written:
                yield punctuate
        else:
            yield Punctuated(punctuate)

    def _loaded(self) -> Writer | Ignored:
        if self._punctuate is None:
            self._punctuate = self._load()
        return self._punctuate

    def _load(self) -> Writer | Ignored:
        if self._load_punctuation is None:
            return Ignored("punctuation_ignored", NO_MODEL)
        try:
            return self._load_punctuation()
        except ModelError as error:
            return Ignored("punctuation_ignored", f"finals get capitals and no punctuation: {error}")


def _numbers(languages: Sequence[str], is_wanted: bool) -> Iterator[Writer | Ignored]:
    if not is_wanted:
        return
    try:
        require_tables(languages)
    except ConfigurationError as error:
        yield Ignored("itn_ignored", str(error))
        return
    if not known(languages):
        yield Ignored("itn_ignored", NO_NUMBERS)
        return
    normaliser = InverseNormaliser(languages)
    normaliser.load()
    yield normaliser
