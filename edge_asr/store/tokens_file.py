"""``tokens.txt`` as sherpa-onnx reads it: one ``symbol id`` a line.

sherpa-onnx ends the process on a line with more fields, and fails in the middle of a decode on an id that is missing;
so the file is read here first, by the same rules.
"""

from __future__ import annotations

from pathlib import Path

from edge_asr.errors import ModelDamaged

_BLANKS = ("<blk>", "<blank>", "<pad>")


def read_tokens(path: Path) -> list[str]:
    """The symbols in the order of their ids.

    A byte order mark and carriage returns are tolerated, as the engine does. A line with an id alone is a space.

    Raises:
        ModelDamaged: A line cannot be read, or the ids are not 0 to n - 1, each once.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelDamaged(path.name, "is not text; the tokens file of this model is another") from error
    except OSError as error:
        raise ModelDamaged(path.name, f"cannot be read: {error.strerror or error}") from error
    pairs = [_line(path.name, number, line) for number, line in enumerate(_lines(text), 1)]
    if not pairs:
        raise ModelDamaged(path.name, "holds no tokens")
    numbered: dict[int, str] = {}
    for identifier, symbol in pairs:
        if identifier in numbered:
            raise ModelDamaged(path.name, f"two tokens have the id {identifier}")
        numbered[identifier] = symbol
    if sorted(numbered) != list(range(len(numbered))):
        missing = next(number for number in range(len(numbered)) if number not in numbered)
        raise ModelDamaged(
            path.name, f"its ids should be 0 to {len(numbered) - 1}, each once, but {missing} is missing"
        )
    return [numbered[number] for number in range(len(numbered))]


def blank_id(symbols: list[str]) -> int | None:
    """Id of the blank symbol, where it is written as one."""
    return next((symbols.index(blank) for blank in _BLANKS if blank in symbols), None)


def _lines(text: str) -> list[str]:
    # Only these ends of lines: some symbols are separators in Unicode's eyes.
    return [line for line in text.replace("\r\n", "\n").split("\n") if line]


def _line(name: str, number: int, line: str) -> tuple[int, str]:
    fields = line.split(" ") if line.count(" ") == 1 else line.split()
    symbol, identifier = ("", fields[0]) if len(fields) == 1 else (fields[0], fields[-1])
    if len(fields) > 2:
        raise ModelDamaged(name, f"line {number} has {len(fields)} fields instead of a symbol and an id")
    if not identifier.isascii() or not identifier.isdigit():
        raise ModelDamaged(name, f"line {number} has no id: {line[:40]!r}")
    return int(identifier), symbol or " "
