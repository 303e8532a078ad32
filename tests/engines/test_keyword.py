from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.commands.phrase_spelling import read_phrase_speller
from edge_asr.engines.keyword import KeywordModel, WakePhrase, load_keywords, require_spotting
from edge_asr.errors import ModelUnsupported
from edge_asr.manifest import read_manifest
from edge_asr.store.tokens_file import read_tokens
from edge_asr.workload import Clip, bundled_clips, load_clip

MODEL = Path(__file__).parents[2] / "models" / "starter-en-transducer"
MANIFEST = read_manifest(MODEL / "manifest.toml")
PHRASES = ("turn on the lights", "play music")
RATE_HZ = 16_000


@pytest.fixture(scope="module")
def model() -> KeywordModel:
    speller, symbols = read_phrase_speller(MODEL / "tokens.txt", MODEL / "bpe.model"), read_tokens(MODEL / "tokens.txt")
    phrases = [WakePhrase(text, tuple(symbols[token] for token in speller.spell(text))) for text in PHRASES]
    return load_keywords(MODEL, MANIFEST, phrases, threshold=0.25, boost=1.5)


def found(model: KeywordModel, samples: Float32Array, piece: int = 1600) -> list[tuple[str, float]]:
    """Phrases, and where they ended, seconds."""
    stream, heard = model.open(), []
    for at in range(0, len(samples), piece):
        part = samples[at : at + piece]
        if spotted := stream.hear(part):
            heard.append((spotted.phrase, (at + len(part) - spotted.samples_ago) / RATE_HZ))
    return heard


def speech(clip: Clip) -> Float32Array:
    loaded = load_clip(clip)
    assert loaded.sample_rate_hz == RATE_HZ
    quiet = np.zeros(RATE_HZ, np.float32)
    return np.concatenate((loaded.samples.astype(np.float32) / 32768, quiet))


CLIPS = {clip.name: clip for clip in bundled_clips()}


@pytest.mark.parametrize(
    ("name", "phrase", "end_s"),
    [("turn-on-the-lights-emma.flac", "turn on the lights", 1.06), ("play-music-in-the-joe.flac", "play music", 0.63)],
)
@pytest.mark.parametrize("piece", [320, 1600])
def test_a_phrase_is_found_and_where_it_ended(
    model: KeywordModel, name: str, phrase: str, end_s: float, piece: int
) -> None:
    ((heard, ended_s),) = found(model, speech(CLIPS[name]), piece)
    assert heard == phrase
    assert ended_s == pytest.approx(end_s, abs=0.2)


def test_other_speech_wakes_nobody(model: KeywordModel) -> None:
    others = [clip for name, clip in CLIPS.items() if not name.startswith(("turn-on", "play-music"))]
    assert not [clip.name for clip in others if found(model, speech(clip))]


def test_a_phrase_is_found_again_and_again_in_one_stream(model: KeywordModel) -> None:
    once = speech(CLIPS["play-music-in-the-joe.flac"])
    heard = found(model, np.concatenate((once, once)))
    assert [phrase for phrase, _ in heard] == ["play music"] * 2
    assert heard[1][1] - heard[0][1] == pytest.approx(len(once) / RATE_HZ, abs=0.2)


def test_models_of_other_families_are_refused() -> None:
    with pytest.raises(ModelUnsupported, match="wake words need a model of"):
        require_spotting(msgspec.structs.replace(MANIFEST, family="zipformer2-ctc"))
