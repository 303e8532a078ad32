"""What the search and the process that decodes for it say to each other: one line of JSON each."""

from __future__ import annotations

import msgspec


class Recognised(msgspec.Struct, frozen=True, kw_only=True):
    """What a model made of one recording."""

    text: str = ""
    audio_s: float = 0.0
    wall_s: float = 0.0
    """Resampling and decoding; reading the file is not in it."""
    cpu_s: float = 0.0
    """Of the whole process in that time."""
    code: str = ""
    """Of the error, where it could not be decoded."""
    message: str = ""


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The first answer: the model has decoded something, or cannot be loaded."""

    resident_bytes: int = 0
    """Memory of the process then."""
    code: str = ""
    message: str = ""
