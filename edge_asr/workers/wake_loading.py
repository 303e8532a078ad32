"""Wake words: spelled in the tokens of their model, which is loaded beside the recogniser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from edge_asr.commands.phrase_spelling import read_phrase_speller
from edge_asr.engines.base import Spotter
from edge_asr.errors import ConfigurationError
from edge_asr.manifest import ModelManifest
from edge_asr.settings import WakeSettings
from edge_asr.store.tokens_file import read_tokens
from edge_asr.workers.companions import inspected, require_same_rate


def load_spotter(directory: Path, recogniser: ModelManifest, settings: WakeSettings) -> Callable[[], Spotter]:
    """What makes the spotter of one session.

    Args:
        directory: The keyword model's files.
        recogniser: The model behind it, whose audio it hears.
        settings: The phrases, and how readily they are found.

    Raises:
        ConfigurationError: A phrase cannot be spelled, or the models hear audio at different rates.
        ModelError: The model cannot be used for it.
    """
    manifest = inspected(directory)
    require_same_rate("wake.model", manifest, recogniser)
    from edge_asr.engines.keyword import WakePhrase, load_keywords, require_spotting

    require_spotting(manifest)
    files = {role: directory / file.path for role, file in manifest.files.items()}
    speller, symbols = read_phrase_speller(files["tokens"], files.get("bpe")), read_tokens(files["tokens"])
    if speller.why_not:
        raise ConfigurationError(f"wake.model = {manifest.name!r} cannot hear phrases: {speller.why_not}")
    phrases = [WakePhrase(text, tuple(symbols[token] for token in speller.spell(text))) for text in settings.phrases]
    return load_keywords(directory, manifest, phrases, settings.threshold, settings.boost).open
