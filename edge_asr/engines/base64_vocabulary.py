"""The texts of a vocabulary whose symbols are written in base64, as those of encoder-decoder models are."""

from __future__ import annotations

import base64
from pathlib import Path

from edge_asr.errors import ModelDamaged

WORD_MARK = "\u2581"


def read_vocabulary(tokens: Path, model: str) -> tuple[str, ...]:
    """Texts of the tokens in a file whose symbols are base64; empty for those that are no text by themselves.

    Raises:
        ModelDamaged: A line is something else.
    """
    lines = tokens.read_text(encoding="ascii").splitlines()
    try:
        numbered = {int(number): symbol for symbol, _, number in (line.rpartition(" ") for line in lines if line)}
        symbols = [base64.b64decode(numbered[number], validate=True) for number in range(len(numbered))]
    except (ValueError, KeyError) as error:
        raise ModelDamaged(
            model, f"{tokens.name} has a line that is no symbol in base64 with its id: {error}"
        ) from error
    texts = []
    later = set()
    for symbol in reversed(symbols):
        # A byte that is also a piece stands in the list twice; the model writes the piece.
        is_text = symbol not in later and not (symbol.startswith(b"<") and symbol.endswith(b">"))
        later.add(symbol)
        texts.append(_decoded(symbol) if is_text else "")
    return tuple(reversed(texts))


def _decoded(symbol: bytes) -> str:
    try:
        return symbol.decode().replace(WORD_MARK, " ")
    except UnicodeDecodeError:
        return ""
