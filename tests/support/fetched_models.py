"""Models that tests fetch rather than carry: from the store named by ``EDGE_ASR_TEST_MODELS``, or an installed one."""

from __future__ import annotations

import os

import pytest

from edge_asr.store.locations import store_locations
from edge_asr.store.store import InstalledModel, ModelStore


def fetched_model(name: str) -> InstalledModel:
    """The model, or the test is skipped."""
    home = os.environ.get("EDGE_ASR_TEST_MODELS")
    environment = {**os.environ, "EDGE_ASR_HOME": home} if home else os.environ
    model = ModelStore(store_locations(environment)).installed_or_none(name)
    if model is None:
        pytest.skip(f"{name} is not installed; `edge-asr models pull {name}`, or set EDGE_ASR_TEST_MODELS to a store")
    return model
