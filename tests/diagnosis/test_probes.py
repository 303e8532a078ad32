"""What is tried in processes of its own, on this machine."""

from __future__ import annotations

import pytest

from edge_asr.diagnosis.probes import try_model, try_providers, try_sound_library
from edge_asr.engines.providers import KNOWN_PROVIDERS
from edge_asr.settings import EngineSettings
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import InstalledModel, ModelStore


@pytest.fixture
def bundled() -> InstalledModel:
    return ModelStore(StoreLocations(())).find("starter-en")


@pytest.mark.model
def test_the_bundled_model_runs_here(bundled):
    assert try_model(bundled, EngineSettings()) is None


@pytest.mark.model
def test_a_model_that_takes_too_long_is_given_up(bundled):
    failure = try_model(bundled, EngineSettings(), timeout_s=0.001)
    assert failure is not None
    assert "took longer than 0.001 s" in str(failure)


@pytest.mark.model
def test_every_known_provider_is_judged_and_the_cpu_runs(bundled):
    tried = try_providers(bundled)
    assert tuple(tried) == KNOWN_PROVIDERS
    assert tried["cpu"] == ""
    assert tried["rknn"] == "the installed sherpa-onnx was built without it"


def test_the_sound_library_answers_or_says_why_not():
    assert try_sound_library() == "" or "PortAudio" in try_sound_library()
