"""The command sets of a model: the configured one, and those that sessions bring.

A set is read once and kept. Reading may be done on another thread than listening, so that sessions that are under way
do not wait for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from edge_asr.commands.constraint import NetworkConstraint
from edge_asr.commands.listening import OPEN_SPEECH, ConstrainedListening, ExactListening, Listening
from edge_asr.commands.templates import CommandSet, read_templates
from edge_asr.commands.token_trie import TokenTrie, build_trie
from edge_asr.errors import ConfigurationError, ProtocolViolation
from edge_asr.settings import CommandSettings

MOST_SETS = 4
"""Of sessions, that are kept."""

CLIENT = "the session's commands"

MOST_NODES_OF_SESSIONS = 150_000
"""Home Assistant's sentences and a thousand names are 128,000."""


ListenerMaker = Callable[[CommandSet], Listening]
"""How one model listens for commands."""


class CommandBook:
    """Templates to what listens for them.

    Args:
        make: How the model listens.
        texts: The configured templates, by name; empty for none.
        make_for_session: How it listens for what a session brings, where that is another way.

    Raises:
        ConfigurationError: The templates cannot be used, or the model cannot listen for any.
    """

    def __init__(
        self, make: ListenerMaker, texts: Mapping[str, str], make_for_session: ListenerMaker | None = None
    ) -> None:
        self._make = make
        self._make_for_session = make_for_session or make
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Listening | ConfigurationError] = OrderedDict()
        self.configured: CommandSet | None = None
        self._standing: Listening = OPEN_SPEECH
        self.use(texts)

    def use(self, texts: Mapping[str, str]) -> None:
        """Listen for these from the next session on; those that are open keep theirs.

        Raises:
            ConfigurationError: They cannot be used; those in use stay.
        """
        commands = read_templates(texts) if texts else None
        standing = self._make(commands) if commands else OPEN_SPEECH
        self.configured, self._standing = commands, standing

    def prepare(self, text: str | None) -> None:
        """Read a session's templates ahead; what is wrong with them is said when it listens."""
        if text and text not in self._known:
            self._read(text)

    def listening(self, text: str | None) -> Listening:
        """What a session listens for.

        Args:
            text: Its own templates; empty to hear open speech, ``None`` for the configured ones.

        Raises:
            ProtocolViolation: They cannot be used.
        """
        if text is None:
            return self._standing
        if not text:
            return OPEN_SPEECH
        with self._lock:
            known = self._known.get(text)
        known = known or self._read(text)
        if isinstance(known, ConfigurationError):
            raise ProtocolViolation(str(known))
        return known

    def _read(self, text: str) -> Listening | ConfigurationError:
        known: Listening | ConfigurationError
        try:
            known = self._make_for_session(read_templates({CLIENT: text}, MOST_NODES_OF_SESSIONS))
        except ConfigurationError as error:
            known = error
        with self._lock:
            self._known[text] = known
            while len(self._known) > MOST_SETS:
                self._known.popitem(last=False)
        return known


def constrained(vocabulary: Callable[[], Sequence[str]], settings: CommandSettings) -> ListenerMaker:
    """For models that are decoded under a constraint.

    Args:
        vocabulary: Reads the texts of the model's tokens; called once, when first needed.
        settings: What is believed.
    """

    @cache
    def trie() -> TokenTrie:
        return build_trie(vocabulary())

    def make(commands: CommandSet) -> Listening:
        constraint = NetworkConstraint(commands.network, trie())
        constraint.warm_up()
        return ConstrainedListening(commands.network, constraint, settings.min_score)

    return make


def exact() -> ListenerMaker:
    """For models that can write nothing but the sentences, as they were loaded with a decoding graph of them."""
    return lambda commands: ExactListening(commands.network)


def unable(reason: str) -> ListenerMaker:
    """For models that cannot listen for commands."""

    def make(_commands: CommandSet) -> Listening:
        raise ConfigurationError(reason)

    return make
