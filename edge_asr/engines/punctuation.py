"""Capitals and punctuation by sherpa-onnx's ``OnlinePunctuation``, a small network over the pieces of words (English).

The native code ends the process over a damaged vocabulary or missing metadata, so models are inspected before. It
writes past its buffers for a word of more pieces than it holds, and turns bytes of other scripts into capitals: such
words are kept from it, and what it gives back counts only if it is the same words.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import sherpa_onnx

from edge_asr.engines.native_load import load_error, model_files
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest

FAMILY = "punctuation-cnn-bilstm"

_PLAIN = re.compile(r"[a-z0-9'-]{1,40}")
_STAND_IN = "it"
"""Stands for a word that the network does not see."""
_MARKS = ".,?"

_log = logging.getLogger(__name__)


class PunctuationModel:
    """A loaded model."""

    def __init__(self, native: Any) -> None:  # noqa: ANN401  native and untyped
        self._native = native

    def write(self, text: str) -> str:
        """The text with capitals and punctuation; as it is where the model fails on it.

        Args:
            text: In lower case, without punctuation.
        """
        words = text.split()
        shown = [word if _PLAIN.fullmatch(word) else _STAND_IN for word in words]
        try:
            written = self._native.add_punctuation_with_case(" ".join(shown)).split() if words else []
        except RuntimeError as error:
            _log.warning("a text gets no punctuation: %s", error)
            return text
        if [word.rstrip(_MARKS).lower() for word in written] != shown:
            return text
        return " ".join(_taken_over(*three) for three in zip(words, shown, written, strict=True))


def load_punctuation(directory: Path, manifest: ModelManifest) -> PunctuationModel:
    """Load a punctuation model, and let it write once; the caller has inspected the files.

    Raises:
        ModelDamaged: The engine cannot load it, or it does not write.
    """
    files = model_files(directory, manifest, FAMILIES[FAMILY])
    config = sherpa_onnx.OnlinePunctuationModelConfig(cnn_bilstm=str(files["model"]), bpe_vocab=str(files["bpe"]))
    try:
        native = sherpa_onnx.OnlinePunctuation(sherpa_onnx.OnlinePunctuationConfig(config))
        native.add_punctuation_with_case("how are you")
    except (RuntimeError, ValueError) as error:
        raise load_error(manifest.name, str(error)) from error
    return PunctuationModel(native)


def _taken_over(word: str, shown: str, written: str) -> str:
    marks = written[len(written.rstrip(_MARKS)) :]
    return written if word == shown else word + marks
