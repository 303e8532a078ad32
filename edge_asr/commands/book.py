"""The command sets of a model: the configured one, and those that sessions bring.

A set is read once and kept. Reading may be done on another thread than listening, so that sessions that are under way
do not wait for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from edge_asr.commands.constraint import NetworkConstraint
from edge_asr.commands.listening import OPEN_SPEECH, ConstrainedListening, ExactListening, Listening
from edge_asr.commands.quiet_making import without_collector
from edge_asr.commands.token_trie import TokenTrie, build_trie
from edge_asr.commands.word_network import word_network
from edge_asr.errors import ConfigurationError, EdgeAsrError, Overloaded, ProtocolViolation
from edge_asr.settings import CommandSettings

if TYPE_CHECKING:  # a worker that nobody gives commands starts without the templates' library
    from edge_asr.commands.templates import CommandSet

CLIENT = "the session's commands"

MOST_NODES_OF_SESSIONS = 150_000
"""Of one set. Home Assistant's sentences and a thousand names are 128,000, some 67 MB."""

MOST_NODES_KEPT = 150_000
"""Of sets that no session may be using, so that the next one that brings the same does not wait."""

MOST_NODES_AT_ONCE = 300_000
"""Of the sets that sessions bring, those in use included: a session beyond it is refused."""

MISTAKE_NODES = 1_000

MOST_EXPECTED = 1_000
"""Words of one set that the engine is told to expect: each new stream takes longer with them."""

RETRY_AFTER_S = 10.0


ListenerMaker = Callable[["CommandSet"], Listening]
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
        self._known: OrderedDict[str, Listening | EdgeAsrError] = OrderedDict()
        self._promised: dict[str, tuple[Listening | EdgeAsrError, int]] = {}
        """What was read ahead, and how many sessions have still to fetch it: it must not be read again for them, on
        the thread that decodes."""
        self._nodes: WeakKeyDictionary[Listening, int] = WeakKeyDictionary()
        """Size of each set of sessions that somebody still holds."""
        self.configured: CommandSet | None = None
        self._standing: Listening = OPEN_SPEECH
        self.use(texts)

    def use(self, texts: Mapping[str, str]) -> None:
        """Listen for these from the next session on; those that are open keep theirs.

        Raises:
            ConfigurationError: They cannot be used; those in use stay.
        """
        with without_collector():
            commands = _read(texts) if texts else None
            standing = self._make(commands) if commands else OPEN_SPEECH
        self.configured, self._standing = commands, standing

    def prepare(self, text: str | None) -> None:
        """Read a session's templates ahead; what is wrong with them is said when it listens."""
        if not text:
            return
        known = self._find(text) or self._read(text)
        with self._lock:
            _, waiting = self._promised.get(text, (known, 0))
            self._promised[text] = known, waiting + 1

    def listening(self, text: str | None) -> Listening:
        """What a session listens for.

        Args:
            text: Its own templates; empty to hear open speech, ``None`` for the configured ones.

        Raises:
            ProtocolViolation: They cannot be used.
            Overloaded: The sets of all sessions would be too large together.
        """
        if text is None:
            return self._standing
        if not text:
            return OPEN_SPEECH
        known = self._fetch(text) or self._find(text) or self._read(text)
        if isinstance(known, ConfigurationError):
            raise ProtocolViolation(str(known))
        if isinstance(known, EdgeAsrError):
            raise known
        return known

    def _find(self, text: str) -> Listening | EdgeAsrError | None:
        with self._lock:
            return self._known.get(text)

    def _fetch(self, text: str) -> Listening | EdgeAsrError | None:
        """What was read ahead for a session."""
        with self._lock:
            known, waiting = self._promised.pop(text, (None, 0))
            if known is not None and waiting > 1:
                self._promised[text] = known, waiting - 1
            return known

    def _read(self, text: str) -> Listening | EdgeAsrError:
        try:
            with without_collector():
                commands = _read({CLIENT: text}, MOST_NODES_OF_SESSIONS)
                nodes = len(commands.network.letters)
                self._make_room(nodes)
                known = self._make_for_session(commands)
        except Overloaded as error:
            return error  # another time it may fit
        except ConfigurationError as error:
            with self._lock:
                self._keep(text, error)
            return error
        with self._lock:
            self._nodes[known] = nodes
            self._keep(text, known)
        return known

    def _make_room(self, nodes: int) -> None:
        """Forget what is only kept, until a set fits beside those in use.

        Raises:
            Overloaded: It does not.
        """
        with self._lock:
            while self._known and sum(self._nodes.values()) + nodes > MOST_NODES_AT_ONCE:
                self._known.popitem(last=False)
            in_use = sum(self._nodes.values())
        if in_use + nodes > MOST_NODES_AT_ONCE:
            raise Overloaded(
                f"the commands of this session need {nodes} nodes, and those of the others hold {in_use} of "
                f"{MOST_NODES_AT_ONCE}",
                RETRY_AFTER_S,
            )

    def _keep(self, text: str, known: Listening | EdgeAsrError) -> None:
        self._known[text] = known
        while len(self._known) > 1 and self._kept_nodes > MOST_NODES_KEPT:
            self._known.popitem(last=False)

    @property
    def _kept_nodes(self) -> int:
        """What is kept; a mistake takes some room too, so that mistakes are forgotten in the end."""
        return sum(
            MISTAKE_NODES if isinstance(known, EdgeAsrError) else self._nodes.get(known, 0)
            for known in self._known.values()
        )


def _read(texts: Mapping[str, str], most_nodes: int | None = None) -> CommandSet:
    from edge_asr.commands.templates import read_templates

    return read_templates(texts, most_nodes)


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


def nearest(settings: CommandSettings) -> ListenerMaker:
    """For models that write what they hear.

    Args:
        settings: What is believed.
    """

    def make(commands: CommandSet) -> Listening:
        from edge_asr.commands.nearest_listening import NearestListening  # with native code, only where commands are

        words = word_network(commands.network)
        return NearestListening(commands.network, words, settings.min_score, words.frequent(MOST_EXPECTED))

    return make


def unable(reason: str) -> ListenerMaker:
    """For models that cannot listen for commands."""

    def make(_commands: CommandSet) -> Listening:
        raise ConfigurationError(reason)

    return make
