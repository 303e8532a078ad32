from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from edge_asr.engines.registry import WITHOUT_SILERO, load_engine, load_segment_decoder
from edge_asr.errors import ModelDamaged, ModelUnsupported, UnknownProvider
from edge_asr.families import FAMILIES, ModelFamily
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.fetched_models import fetched_model


def test_streaming_families_stream(tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path)
    engine = load_engine(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), EngineSettings())
    assert engine.describe().is_streaming
    assert engine.describe().family == "lstm-transducer"


def test_other_families_are_cut_into_segments(tmp_path):
    files = tiny_models.write_nemo_ctc_offline(tmp_path)
    described = load_engine(tmp_path, tiny_models.tiny_manifest("nemo-ctc", files), EngineSettings()).describe()
    assert (described.is_streaming, described.is_append_only, described.chunk_ms) == (False, False, 0.0)


def test_without_silero_the_operator_is_told(tmp_path):
    files = tiny_models.write_nemo_ctc_offline(tmp_path)
    engine = load_engine(tmp_path, tiny_models.tiny_manifest("nemo-ctc", files), EngineSettings())
    assert engine.describe().notes == (WITHOUT_SILERO,)


def test_with_silero_there_is_nothing_to_tell(tmp_path):
    silero = fetched_model("silero-vad")
    files = tiny_models.write_nemo_ctc_offline(tmp_path)
    manifest = tiny_models.tiny_manifest("nemo-ctc", files)
    vad_model = silero.directory / silero.manifest.files["model"].path
    assert load_engine(tmp_path, manifest, EngineSettings(), vad_model).describe().notes == ()


@pytest.mark.parametrize("family", ["silero-vad", "from-the-future"])
def test_what_recognises_no_speech_is_refused(family, tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path)
    manifest = msgspec.structs.replace(tiny_models.tiny_manifest("lstm-transducer", files), family=family)
    with pytest.raises(ModelUnsupported, match=f"models of the family '{family}' recognise no speech"):
        load_engine(tmp_path, manifest, EngineSettings())


def test_a_streaming_model_is_no_segment_decoder(tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path)
    with pytest.raises(ModelUnsupported, match="do not decode whole segments; name one that does not stream"):
        load_segment_decoder(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), EngineSettings())


def test_segments_at_another_rate_than_the_detectors_are_refused(tmp_path):
    files = tiny_models.write_nemo_ctc_offline(tmp_path)
    manifest = msgspec.structs.replace(tiny_models.tiny_manifest("nemo-ctc", files), sample_rate_hz=8_000)
    with pytest.raises(ModelUnsupported, match="8000 Hz"):
        load_engine(tmp_path, manifest, EngineSettings())


def test_an_unknown_provider_is_refused_before_the_files_are_looked_at():
    manifest = tiny_models.tiny_manifest("lstm-transducer", {"tokens": Path("tokens.txt")})
    with pytest.raises(UnknownProvider):
        load_engine(Path("/nowhere"), manifest, replace(EngineSettings(), provider="npu"))


def test_a_token_table_that_is_too_short_is_found_by_the_warm_up(tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path, tokens=("<blk>",))
    with pytest.raises(ModelDamaged, match=r"is tokens\.txt the model's own"):
        load_engine(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), EngineSettings())


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_every_family_that_recognises_speech_has_an_engine(family: ModelFamily, tmp_path):
    manifest = msgspec.structs.replace(
        tiny_models.tiny_manifest("lstm-transducer", {}), family=family.name, sample_rate_hz=family.sample_rate_hz
    )
    expected = ModelUnsupported if not family.recognises_speech else ModelDamaged  # no file for its roles
    with pytest.raises(expected):
        load_engine(tmp_path, manifest, EngineSettings())


def test_knowing_the_engines_loads_none_of_them():
    script = "import sys, edge_asr.engines.registry; print('sherpa_onnx' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
