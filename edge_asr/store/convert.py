"""Files that a publisher ships in another form than the engine reads."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from edge_asr.errors import ModelDamaged


def moonshine_tokens(tokenizer: bytes) -> str:
    """``tokens.txt`` of a Moonshine ``tokenizer.bin``.

    The binary file is a list of byte strings, each after its length: one byte, or two when the first is at least 128
    (``second * 128 + first - 128``). The text file has one line ``base64(token) id`` each, as sherpa-onnx reads it.

    Raises:
        ModelDamaged: The file ends inside a token.
    """
    lines = (f"{base64.b64encode(token).decode()} {index}\n" for index, token in enumerate(_length_prefixed(tokenizer)))
    return "".join(lines)


def _length_prefixed(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        length = data[position]
        position += 1
        if length >= 128 and position < len(data):
            length += data[position] * 128 - 128
            position += 1
        token = data[position : position + length]
        if len(token) != length:
            raise ModelDamaged("tokenizer.bin", f"it ends inside a token at byte {position}")
        yield token
        position += length
