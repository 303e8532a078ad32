"""From token ids to text, as sherpa-onnx writes it: pieces joined, U+2581 a space, ``<0xE4>`` a byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from edge_asr.errors import EngineFailed

WORD_MARK = "\u2581"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_UNKNOWN = "<unk>"


class TokenText:
    """The symbols of one model."""

    def __init__(self, symbols: Mapping[int, str]) -> None:
        self._symbols = symbols

    @classmethod
    def read(cls, tokens: Path) -> TokenText:
        """From ``tokens.txt`` of a model that was inspected; a line with an id alone is a space."""
        symbols = {}
        for line in tokens.read_text(encoding="utf-8").split("\n"):
            if line.strip():
                symbol, _, number = line.rstrip("\r").rpartition(" ")
                symbols[int(number)] = symbol or " "
        return cls(symbols)

    @property
    def unknown(self) -> int | None:
        """The token for what the vocabulary lacks, if there is one."""
        return next((token for token, symbol in self._symbols.items() if symbol == _UNKNOWN), None)

    def symbol(self, token: int) -> str:
        """One token as text.

        Raises:
            EngineFailed: The table lacks it.
        """
        try:
            return self._symbols[token].replace(WORD_MARK, " ")
        except KeyError as error:
            raise EngineFailed(f"the model emitted token {token}, which its tokens.txt lacks") from error

    def text(self, tokens: Iterable[int]) -> str:
        """All of them; bytes that are no whole character yet are left out."""
        written = bytearray()
        for token in tokens:
            symbol = self.symbol(token)
            byte = _BYTE.fullmatch(symbol)
            written += bytes([int(byte[1], 16)]) if byte else symbol.encode()
        return written.decode(errors="ignore")
