"""The trial of a model, in real workers: with the bundled model, and with ones that are wrong."""

from __future__ import annotations

import pytest

from edge_asr.errors import GateFailed
from edge_asr.manifest import read_manifest
from edge_asr.metrics.instruments import Instruments
from edge_asr.workers import trial as trial_module
from edge_asr.workers.pool import Pool
from edge_asr.workers.served_model import ServedModel
from edge_asr.workers.trial import ModelTrial, bundled_recordings
from tests.workers.conftest import FAST
from tests.workers.test_loading import STARTER


@pytest.fixture
async def starter(registry):
    pool = Pool(ServedModel(read_manifest(STARTER / "manifest.toml"), STARTER, FAST), Instruments(registry))
    await pool.start()
    yield pool
    await pool.close(0)


def test_models_of_commands_are_tried_with_commands_only():
    all_of_them, commands = bundled_recordings(knows_all_words=True), bundled_recordings(knows_all_words=False)
    assert (len(all_of_them), len(commands)) == (19, 16)
    assert commands[0].text == "go forward ten meters"
    assert all(recording.path.is_file() for recording in all_of_them)


@pytest.mark.model
async def test_the_bundled_model_passes_and_says_what_it_was_judged_by(starter):
    trial = ModelTrial(starter)
    await trial(starter.active_place)
    assert trial.report is not None
    assert (trial.report.model, trial.report.recordings) == ("starter-en", 16)
    assert trial.report.word_error_rate is not None
    assert 0 <= trial.report.word_error_rate <= 0.1
    assert 20 << 20 < trial.report.peak_memory_bytes < 400 << 20
    assert starter.status().sessions == 0


@pytest.mark.model
async def test_a_model_that_takes_most_of_the_memory_is_refused_with_both_figures(starter, monkeypatch):
    monkeypatch.setattr(trial_module, "memory_limit_bytes", lambda: 50 << 20)
    with pytest.raises(GateFailed, match=r"it took \d+ MiB, and at most 40 MiB \(80% of the memory here\) are allowed"):
        await ModelTrial(starter)(starter.active_place)


async def test_a_model_that_recognises_nothing_is_refused_unless_words_are_not_judged(make_pool, tmp_path):
    (tmp_path / "word").write_text("")
    pool = make_pool()
    await pool.start()
    with pytest.raises(GateFailed, match=r"it recognised nothing in 19 recordings of speech; .*say --max-wer 1"):
        await ModelTrial(pool)(pool.active_place)
    await ModelTrial(pool, max_wer=1.0)(pool.active_place)
