from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.errors import ConfigurationError, ModelUnsupported
from edge_asr.manifest import read_manifest
from edge_asr.settings import WakeSettings
from edge_asr.workers.wake_loading import load_spotter

MODELS = Path(__file__).parents[2] / "models"
STARTER = read_manifest(MODELS / "starter-en" / "manifest.toml")


def test_each_session_gets_a_spotter_of_its_own() -> None:
    open_spotter = load_spotter(MODELS / "starter-en-transducer", STARTER, WakeSettings(("hey computer", "okay house")))
    assert open_spotter() is not open_spotter()


def test_a_phrase_that_cannot_be_spelled_is_refused_before_anything_native_sees_it() -> None:
    with pytest.raises(ConfigurationError, match="'你' cannot be spelled"):
        load_spotter(MODELS / "starter-en-transducer", STARTER, WakeSettings(("你好",)))


def test_a_model_that_spots_nothing_is_refused() -> None:
    with pytest.raises(ModelUnsupported, match="starter-en"):
        load_spotter(MODELS / "starter-en", STARTER, WakeSettings(("hey computer",)))
