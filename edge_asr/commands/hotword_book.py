"""The hotwords of a model: those of the configuration, which every session has, and those a session brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from edge_asr.commands.hotwords import HotwordList, Spell, read_hotwords
from edge_asr.engines.base import Hotword, TokenBias
from edge_asr.errors import ConfigurationError

REMEMBERED = 10_000
"""Phrases that are not spelled twice: clients bring the same names with every utterance."""

REMEMBERED_LISTS = 8


class HotwordBook:
    """Phrases to what the engine is told.

    Args:
        spell: How the model writes a phrase.
        why_not: Why the model takes no hotwords; empty where it does.
        default_boost: Of phrases without one.
        texts: The configured list by the name of its file; empty for none.
        bias: Makes of hotwords what the engine is told, for engines that do not take them as they are.

    Raises:
        ConfigurationError: Hotwords are configured and the model takes none, or not one of them can be used.
    """

    def __init__(
        self,
        spell: Spell,
        why_not: str,
        default_boost: float,
        texts: Mapping[str, str],
        bias: Callable[[Sequence[Hotword]], TokenBias] | None = None,
    ) -> None:
        self._bias = lru_cache(REMEMBERED_LISTS)(bias) if bias else None
        self._spell = lru_cache(REMEMBERED)(spell)
        self.why_not = why_not
        self._default_boost = default_boost
        self._configured: dict[tuple[int, ...], Hotword] = {}
        self.notes: tuple[str, ...] = ()
        for name, text in texts.items():
            self._use(name, text)

    def of_session(self, phrases: Sequence[str], besides: Sequence[str] = ()) -> HotwordList:
        """What a session's engine is told, and which of the phrases it brought are not used.

        Its own boost of a phrase takes the place of the configured one.

        Args:
            phrases: What it brought.
            besides: Words of the commands that it listens for; nobody is told of those that cannot be used.
        """
        if self.why_not:
            return HotwordList()
        own = read_hotwords(phrases, self._spell, self._default_boost, "hotword")
        words = read_hotwords(besides, self._spell, self._default_boost).hotwords if besides else ()
        together = {hotword.tokens: hotword for hotword in (*words, *self._configured.values(), *own.hotwords)}
        hotwords = tuple(together.values())
        bias = self._bias(hotwords) if self._bias and hotwords else None
        return HotwordList(hotwords, own.mistakes, bias, len(together) - len(own.hotwords))

    def _use(self, name: str, text: str) -> None:
        if self.why_not:
            raise ConfigurationError(f"the hotwords of {name} cannot be used: {self.why_not}")
        read = read_hotwords(text.splitlines(), self._spell, self._default_boost)
        if not read.hotwords:
            raise ConfigurationError(f"{name}: {read.account if read.mistakes else 'there are no hotwords in it'}")
        self._configured |= {hotword.tokens: hotword for hotword in read.hotwords}
        self.notes += (f"{name}: {read.account}",)
