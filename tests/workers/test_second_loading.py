"""A model behind the active one: found in the store, loaded beside it in a real worker, its text in the finals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from edge_asr.errors import ConfigurationError, ModelNotFound, ModelUnsupported
from edge_asr.events import Final, Partial
from edge_asr.manifest import format_manifest, read_manifest
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import SessionOptions
from edge_asr.settings import SecondPassSettings, Settings
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import InstalledModel, ModelStore
from edge_asr.workers.configuration import pack, unpack
from edge_asr.workers.loading import load_second
from edge_asr.workers.models import second_model, why_no_second_model
from edge_asr.workers.pool import Pool
from edge_asr.workers.served_model import ServedModel
from tests.support import tiny_models
from tests.workers.conftest import FAST
from tests.workers.test_loading import STARTER, speech

FIRST = read_manifest(STARTER / "manifest.toml")
PATIENT = SecondPassSettings(model="tiny", deadline_ms=60_000)


@pytest.fixture
def tiny(tmp_path: Path) -> InstalledModel:
    """A non-streaming model that counts what is loud."""
    directory = tmp_path / "models" / "tiny"
    manifest = tiny_models.tiny_manifest("nemo-ctc", tiny_models.write_nemo_ctc_offline(directory))
    (directory / "manifest.toml").write_text(format_manifest(manifest), encoding="utf-8")
    return InstalledModel(manifest, directory)


def settings_with(second: SecondPassSettings) -> Settings:
    return replace(FAST, second_pass=second)


def test_none_is_configured(tmp_path: Path) -> None:
    assert second_model(ModelStore(StoreLocations((tmp_path,), tmp_path)), FIRST, SecondPassSettings()) is None


def test_one_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="better"):
        second_model(ModelStore(StoreLocations((tmp_path,), tmp_path)), FIRST, SecondPassSettings("better"))


def test_a_model_that_does_not_stream_has_none_behind_it(tmp_path: Path, tiny: InstalledModel) -> None:
    assert (
        second_model(ModelStore(StoreLocations((tmp_path,), tmp_path)), tiny.manifest, SecondPassSettings("better"))
        is None
    )
    assert why_no_second_model(tiny.manifest, SecondPassSettings("better")).startswith(
        "second_pass.model = 'better' is"
    )


def test_nothing_is_said_of_a_second_model_that_is_used_or_not_wished_for(tiny: InstalledModel) -> None:
    assert why_no_second_model(FIRST, SecondPassSettings("better")) == ""
    assert why_no_second_model(tiny.manifest, SecondPassSettings()) == ""


def test_another_second_model_needs_another_worker(tiny: InstalledModel) -> None:
    alone = ServedModel(FIRST, STARTER, settings_with(SecondPassSettings()))
    behind = ServedModel(FIRST, STARTER, settings_with(PATIENT), second=tiny)
    assert not alone.is_like(behind)
    assert behind.beside_the_active_one().configure.second_model == ""
    assert behind.needed_bytes > alone.needed_bytes


def test_a_streaming_model_cannot_be_the_second(tmp_path: Path) -> None:
    configuration = unpack(pack(STARTER, settings_with(PATIENT), None))
    with pytest.raises(ModelUnsupported, match="do not decode whole segments"):
        load_second(STARTER, FIRST, configuration)


def test_models_of_different_rates_do_not_go_together(tiny: InstalledModel) -> None:
    configuration = unpack(pack(STARTER, settings_with(PATIENT), None))
    with pytest.raises(ConfigurationError, match=r"second_pass\.model = 'tiny' hears audio at 16000 Hz"):
        load_second(tiny.directory, msgspec.structs.replace(FIRST, sample_rate_hz=8000), configuration)


@pytest.mark.model
async def test_partials_are_the_first_models_and_finals_the_seconds(registry, tiny: InstalledModel) -> None:
    pool = Pool(ServedModel(FIRST, STARTER, settings_with(PATIENT), second=tiny), Instruments(registry))
    await pool.start()
    try:
        ready = pool.status().ready
        assert ready is not None
        assert not ready.is_append_only  # finals say it otherwise
        assert (ready.second_pass, ready.words_note) == ("tiny", "")  # and may have any word
        session = await pool.open(SessionOptions(), protocol="test")
        await session.send((4 * np.frombuffer(speech(), "<i2")).tobytes())
        await session.finish()
        events = [event async for event in session.events()]
    finally:
        await pool.close(0)
    partials = [event.text for event in events if isinstance(event, Partial)]
    (final,) = [event for event in events if isinstance(event, Final)]
    assert partials[-1] == "go forward ten meters"
    assert final.text == "two three four one"
