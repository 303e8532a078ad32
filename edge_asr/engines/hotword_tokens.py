"""How exact token ids are told to the native engine, which takes hotwords as text and cuts it by rules of its own.

Its rules are not the model's: of text cut already it takes the pieces apart, and it passes over what it cannot find in
the token table. So the table it loads has a second name for every token, one private character each; the first name
stays the one it writes. A hotword made of such characters is cut into exactly them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from edge_asr.engines.base import Hotword
from edge_asr.engines.native_load import file_in_memory
from edge_asr.errors import ModelUnsupported

FIRST_ALIAS = 0xF0000
"""Unicode's Supplementary Private Use Area-A."""
MOST_TOKENS = 0xFFFE
"""Characters of that area."""


@dataclass(frozen=True, slots=True)
class TokenTable:
    """What the native engine is told to load."""

    path: Path
    named: int = 0
    """Tokens with a second name; 0 where hotwords cannot be told."""


@contextmanager
def token_table(tokens: Path, *, with_names: bool) -> Iterator[TokenTable]:
    """The model's own table, or one with second names: a file in memory that vanishes after the context.

    Args:
        tokens: ``tokens.txt`` of a model that was inspected.
        with_names: Whether hotwords are possible at all.

    Raises:
        ModelUnsupported: There are more tokens than names.
    """
    if not with_names:
        yield TokenTable(tokens)
        return
    content = tokens.read_bytes()
    # The id is the last field, as the engine reads it; of empty lines it reads nothing.
    ids = sorted({int(line.split()[-1]) for line in content.split(b"\n") if line.strip()})
    if len(ids) > MOST_TOKENS:
        raise ModelUnsupported(tokens.name, f"it has {len(ids)} tokens; hotwords are possible up to {MOST_TOKENS}")
    aliases = "".join(f"\n{chr(FIRST_ALIAS + number)} {number}" for number in ids)
    with file_in_memory("tokens", content + aliases.encode() + b"\n") as path:
        yield TokenTable(path, len(ids))


def native_hotwords(hotwords: Iterable[Hotword], tokens: int) -> str:
    """Hotwords as ``create_stream`` takes them.

    Args:
        hotwords: Each with its boost.
        tokens: How many have a second name.

    Raises:
        ValueError: A token is none of the vocabulary, or a hotword has none.
    """
    return "/".join(_native(hotword, tokens) for hotword in hotwords)


def _native(hotword: Hotword, tokens: int) -> str:
    if not hotword.tokens or not all(0 <= token < tokens for token in hotword.tokens):
        raise ValueError(f"{hotword.tokens} are no tokens of a vocabulary of {tokens}")
    return "".join(chr(FIRST_ALIAS + token) for token in hotword.tokens) + f" :{hotword.boost:f}"
