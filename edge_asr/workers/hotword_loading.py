"""How a model takes hotwords: refused before it is loaded where it cannot, spelled in its own tokens where it can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from edge_asr.commands.hotword_book import HotwordBook
from edge_asr.commands.phrase_bias import VocabularySpeller
from edge_asr.commands.phrase_spelling import read_phrase_speller
from edge_asr.commands.token_trie import build_trie
from edge_asr.engines.base import Hotword, TokenBias
from edge_asr.engines.base64_vocabulary import read_vocabulary
from edge_asr.engines.constrained_families import CONSTRAINED_FAMILIES
from edge_asr.engines.providers import ort_provider
from edge_asr.errors import ConfigurationError, ModelDamaged
from edge_asr.families import FAMILIES, NO_HOTWORDS
from edge_asr.manifest import ModelManifest
from edge_asr.settings import EngineSettings


def why_no_hotwords(manifest: ModelManifest, settings: EngineSettings) -> str:
    """Why a model that is decoded like that takes none; empty where it does."""
    if manifest.family in CONSTRAINED_FAMILIES:
        return ""  # its decoder is our own
    if ort_provider(settings.provider):
        return f"provider {settings.provider!r} searches greedily only"
    family = FAMILIES.get(manifest.family)
    return family.why_no_hotwords(settings.decoding_method) if family else NO_HOTWORDS


def expecting(engine: EngineSettings, manifest: ModelManifest) -> EngineSettings:
    """The settings, with beam search where the model can be told then to expect words, as no other search can.

    ONNX Runtime's providers are searched greedily only.
    """
    family = FAMILIES.get(manifest.family)
    if family is None or ort_provider(engine.provider) or family.why_no_hotwords("modified_beam_search"):
        return engine
    return replace(engine, decoding_method="modified_beam_search")


def require_hotwords_possible(manifest: ModelManifest, settings: EngineSettings, texts: Mapping[str, str]) -> None:
    """Refuse configured hotwords that the model would never heed.

    Raises:
        ConfigurationError: With the reason.
    """
    why_not = why_no_hotwords(manifest, settings)
    if texts and why_not:
        raise ConfigurationError(
            f"model {manifest.name!r} ({manifest.family}) cannot use the hotwords of {', '.join(texts)}: {why_not}; "
            "streaming transducers decoded by modified_beam_search can, and Moonshine"
        )


def hotword_book(
    directory: Path, manifest: ModelManifest, settings: EngineSettings, texts: Mapping[str, str]
) -> HotwordBook | None:
    """The hotwords of a model; ``None`` where it takes none.

    Args:
        directory: The model's files.
        manifest: What they are.
        settings: How it is decoded, and the boost of hotwords without one.
        texts: The configured list by its file; empty for none.

    Raises:
        ConfigurationError: Not one of the configured hotwords can be used.
    """
    if why_no_hotwords(manifest, settings):
        return None
    files = {role: directory / file.path for role, file in manifest.files.items()}
    if manifest.family in CONSTRAINED_FAMILIES:
        return _by_search(files["tokens"], manifest.name, settings.hotwords_score, texts)
    try:
        pieces = read_phrase_speller(files["tokens"], files.get("bpe"))
    except ModelDamaged as error:  # it can be decoded all the same
        return HotwordBook(_unspelled, error.reason, settings.hotwords_score, texts)
    return HotwordBook(pieces.spell, pieces.why_not, settings.hotwords_score, texts)


def _by_search(tokens: Path, model: str, default_boost: float, texts: Mapping[str, str]) -> HotwordBook:
    """For models that our own search decodes; the vocabulary is read when there is a hotword."""

    @cache
    def speller() -> VocabularySpeller:
        vocabulary = read_vocabulary(tokens, model)
        return VocabularySpeller(build_trie(vocabulary), vocabulary)

    def bias(hotwords: Sequence[Hotword]) -> TokenBias:
        return speller().bias(hotwords)

    return HotwordBook(lambda phrase: speller().spell(phrase), "", default_boost, texts, bias)


def _unspelled(phrase: str) -> tuple[int, ...]:
    raise ConfigurationError(f"{phrase!r} cannot be spelled")
