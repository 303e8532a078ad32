"""Speakers in the daemon: found in the store, loaded beside the recogniser in a real worker, named in the finals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edge_asr.engines.speaker import load_speaker_model
from edge_asr.errors import ModelNotFound, ModelUnsupported
from edge_asr.events import Final
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import SessionOptions
from edge_asr.settings import Settings, SpeakerSettings
from edge_asr.store.locations import StoreLocations
from edge_asr.store.speakers import EnrolledSpeaker
from edge_asr.store.store import ModelStore
from edge_asr.workers.configuration import pack, unpack
from edge_asr.workers.enrolled import enrolled_voices
from edge_asr.workers.models import served
from edge_asr.workers.pool import Pool
from edge_asr.workers.served_model import ServedModel
from edge_asr.workers.speaker_loading import load_speakers
from tests.support.tiny_speaker import MANIFEST, write_installed
from tests.workers.conftest import FAST
from tests.workers.test_loading import STARTER, speech
from tests.workers.test_second_loading import FIRST

SPEAKERS = SpeakerSettings(model="tiny-speaker", threshold=0.9, deadline_ms=60_000)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    write_installed(tmp_path / "models" / MANIFEST.name)
    return ModelStore(StoreLocations((tmp_path,), tmp_path))


def enroll(store: ModelStore, name: str, *embedding: float, model: str = MANIFEST.name) -> None:
    store.speakers.write(EnrolledSpeaker(name, model, "", embedding, 1, 1.0))


def settings_with(speakers: SpeakerSettings) -> Settings:
    return replace(FAST, speakers=speakers)


def test_nothing_is_configured(store: ModelStore) -> None:
    assert enrolled_voices(store, SpeakerSettings()) is None


def test_a_model_that_is_not_installed_is_named(store: ModelStore) -> None:
    with pytest.raises(ModelNotFound, match="voices"):
        enrolled_voices(store, SpeakerSettings("voices"))


def test_a_recogniser_tells_no_speakers_apart(store: ModelStore) -> None:
    with pytest.raises(ModelUnsupported, match="tell speakers apart"):
        enrolled_voices(store, SpeakerSettings("starter-en"))


def test_voices_of_another_model_are_left_out_and_said(store: ModelStore) -> None:
    enroll(store, "Anna", 1.0, 0.0)
    enroll(store, "Bob", 1.0, model="other")
    found = enrolled_voices(store, SPEAKERS)
    assert found is not None
    assert dict(found.embeddings) == {"Anna": (1.0, 0.0)}
    assert found.note == "Bob: enrolled with another model than tiny-speaker; enroll them again"


def test_nobody_is_enrolled_yet(store: ModelStore) -> None:
    found = enrolled_voices(store, SPEAKERS)
    assert found is not None
    assert "no speaker is enrolled" in found.note


def test_the_worker_gets_the_voices_and_says_what_is_left_out(store: ModelStore) -> None:
    enroll(store, "Anna", *np.ones(80).tolist())
    enroll(store, "Bob", 1.0, model="other")
    voices = enrolled_voices(store, SPEAKERS)
    configure = pack(STARTER, settings_with(SPEAKERS), None, voices=voices)
    loaded = load_speakers(configure, unpack(configure).speakers)
    assert loaded is not None
    assert len(loaded.voices) == 1
    assert loaded.note.startswith("Bob: enrolled with another model")


def test_a_voice_more_needs_another_worker(store: ModelStore) -> None:
    enroll(store, "Anna", 1.0, 0.0)
    starter = store.find("starter-en")
    before, again = (served(store, starter, settings_with(SPEAKERS)) for _ in range(2))
    enroll(store, "Bob", 0.0, 1.0)
    after = served(store, starter, settings_with(SPEAKERS))
    assert before.is_like(again)
    assert not before.is_like(after)
    assert before.needed_bytes > served(store, starter, settings_with(SpeakerSettings())).needed_bytes


@pytest.mark.model
async def test_finals_of_a_worker_name_the_speaker(registry, store: ModelStore) -> None:
    said = np.frombuffer(speech(), "<i2").astype(np.float32) / np.float32(32768)
    model = load_speaker_model(store.find(MANIFEST.name).directory, MANIFEST)
    voice = model.embedding(said, 16_000)
    assert voice is not None
    enroll(store, "Anna", *voice.tolist())
    enroll(store, "Bob", *(-voice).tolist())
    pool = Pool(
        ServedModel(FIRST, STARTER, settings_with(SPEAKERS), voices=enrolled_voices(store, SPEAKERS)),
        Instruments(registry),
    )
    await pool.start()
    try:
        session = await pool.open(SessionOptions(), protocol="test")
        await session.send(speech())
        await session.finish()
        events = [event async for event in session.events()]
    finally:
        await pool.close(0)
    (final,) = [event for event in events if isinstance(event, Final)]
    assert final.text == "go forward ten meters"
    assert final.speaker is not None
    assert final.speaker.name == "Anna"
    assert final.speaker.score == pytest.approx(1.0, abs=0.05)
