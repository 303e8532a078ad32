"""Dependable streaming speech recognition for small boards.

The public surface is small on purpose and loads no native package; everything else may change.
"""

from edge_asr.errors import EdgeAsrError
from edge_asr.events import Failed, Final, Notice, Partial, SessionEnded, TranscriptEvent, Word
from edge_asr.requests import SessionOptions

__version__ = "0.1.0"

__all__ = [
    "EdgeAsrError",
    "Failed",
    "Final",
    "Notice",
    "Partial",
    "SessionEnded",
    "SessionOptions",
    "TranscriptEvent",
    "Word",
    "__version__",
]
