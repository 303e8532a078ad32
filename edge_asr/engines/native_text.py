"""The text of a native result, read so that nothing stays behind.

The property ``text`` of the results of sherpa-onnx 2.0.1 holds one reference too many: each read keeps its string for
ever, with live partials some hundred bytes a step and stream, and megabytes an hour. The same text inside the result's
JSON does not.
"""

from __future__ import annotations

import json
from typing import Any

_KEY = '"text": '
_DECODER = json.JSONDecoder(strict=False)


def text_of(result: Any) -> str:  # noqa: ANN401  native and untyped
    """The text as it is.

    Args:
        result: Of a native recogniser, streaming or not.

    Raises:
        UnicodeDecodeError: A model that writes bytes is in the middle of a character.
    """
    try:
        written = str(result)
        text = _DECODER.raw_decode(written, written.index(_KEY) + len(_KEY))[0]
    except ValueError:
        # Another version writes it otherwise, or single tokens (not the text) are half a character.
        text = result.text
    return str(text)
