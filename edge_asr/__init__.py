"""Dependable streaming speech recognition for small boards.

The public surface is small on purpose and loads no native package; everything else may change.
"""

import os

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

# The wheels of onnxruntime write down what is run into the user's home, and send it to their maker, unless this is set
# when they are loaded. What people say to a recogniser on their own board is nobody else's business.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
