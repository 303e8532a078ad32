"""``tokens.txt`` as sherpa-onnx reads it: one ``symbol id`` a line.

sherpa-onnx ends the process on a line with more fields, and fails in the middle of a decode on an id that is missing;
so the file is read here first, by the same rules.
"""

from __future__ import annotations

from pathlib import Path

from edge_asr.errors import ModelDamaged
from edge_asr.store.impostors import what_it_is_instead

BLANKS = ("<blk>", "<eps>", "<blank>")
"""Names of the blank symbol, in the order in which the engine looks for them."""

BYTE_ORDER_MARK = "\ufeff"

_LONGEST_ID = 9
"""Digits; the engine's ids have 32 bits."""


def read_tokens(path: Path) -> list[str]:
    """The symbols in the order of their ids, as the engine sees them: a byte order mark is part of the first one.

    Carriage returns, empty lines and repeated lines are tolerated, as the engine does. A line with an id alone is a
    space.

    Raises:
        ModelDamaged: A line cannot be read, or the ids are not 0 to n - 1, each for one symbol.
    """
    numbered: dict[int, str] = {}
    for number, line in enumerate(_content(path).split(b"\n"), 1):
        if not line.strip():
            continue
        identifier, symbol = _line(path.name, number, line)
        if numbered.setdefault(identifier, symbol) != symbol:
            raise ModelDamaged(path.name, f"gives the id {identifier} to two tokens")
    if not numbered:
        raise ModelDamaged(path.name, "holds no tokens")
    missing = next((number for number in range(len(numbered)) if number not in numbered), None)
    if missing is not None:
        raise ModelDamaged(path.name, f"should have the ids 0 to {len(numbered) - 1}, but {missing} is missing")
    return [numbered[number] for number in range(len(numbered))]


def blank_id(symbols: list[str]) -> int | None:
    """Id of the blank symbol, where it is written as one."""
    return next((symbols.index(blank) for blank in BLANKS if blank in symbols), None)


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelDamaged(path.name, "is not text; the tokens file of this model is another") from error
    except OSError as error:
        raise ModelDamaged(path.name, f"cannot be read: {error.strerror or error}") from error
    instead = what_it_is_instead(content[:64])
    if instead:
        raise ModelDamaged(path.name, instead)
    return content


def _line(name: str, number: int, line: bytes) -> tuple[int, str]:
    fields = line.split()  # Of bytes: at ASCII spaces only, since some symbols are spaces in Unicode's eyes.
    if len(fields) > 2:
        raise ModelDamaged(name, f"line {number} has {len(fields)} fields instead of a symbol and an id")
    identifier = fields[-1]
    if not identifier.isdigit() or len(identifier) > _LONGEST_ID:
        raise ModelDamaged(name, f"line {number} has no id: {line.decode()[:40].strip()!r}")
    return int(identifier), fields[0].decode() if len(fields) == 2 else " "
