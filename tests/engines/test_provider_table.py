from __future__ import annotations

import pytest

from edge_asr.engines.provider_table import ORT_PROVIDERS, PROVIDERS, Provider, markdown_table
from edge_asr.engines.providers import choose_provider, known_provider, ort_provider
from edge_asr.errors import ProviderUnavailable
from edge_asr.families import FAMILIES
from edge_asr.settings import EngineSettings
from tests.support.engine_cases import STARTER

NO_STREAMING = {
    "ascend": "non-streaming SenseVoice, Paraformer, Whisper and Zipformer-CTC",
    "axera": "non-streaming SenseVoice",
    "axcl": "non-streaming SenseVoice",
    "hailo": "no Hailo backend",
}


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_every_provider_says_how_to_get_it_and_how_it_is_proven(provider: Provider) -> None:
    assert provider.needs
    assert provider.how_to_get
    assert provider.proof
    assert set(provider.families) <= set(FAMILIES)
    assert ("streaming" in provider.kinds) != bool(provider.why_not)


@pytest.mark.parametrize("name", NO_STREAMING)
def test_where_nothing_streams_the_reason_is_said(name: str) -> None:
    with pytest.raises(ProviderUnavailable, match=f"not supported for streaming: .*{NO_STREAMING[name]}"):
        choose_provider(EngineSettings(provider=name), FAMILIES["zipformer2-ctc"])


def test_a_family_that_the_npu_does_not_run_is_named_with_those_it_does() -> None:
    with pytest.raises(ProviderUnavailable, match="zipformer2-ctc only, and this model is lstm-transducer"):
        choose_provider(EngineSettings(provider="rknn"), FAMILIES["lstm-transducer"])


def test_a_model_that_does_not_stream_needs_a_provider_for_it() -> None:
    with pytest.raises(ProviderUnavailable, match="it runs streaming models only"):
        choose_provider(EngineSettings(provider="rknn"), FAMILIES["moonshine"])
    with pytest.raises(ProviderUnavailable, match="streaming models only"):
        choose_provider(EngineSettings(provider="ort:OpenVINO"), FAMILIES["moonshine"])


@pytest.mark.parametrize("name", ORT_PROVIDERS)
def test_providers_of_onnx_runtime_are_known_whatever_their_case(name: str) -> None:
    assert known_provider(f"ORT:{name.upper()}") == f"ort:{name}"
    assert ort_provider(f"ort:{name}") == name


def test_qnn_is_run_by_onnx_runtime() -> None:
    assert ort_provider("qnn") == "QNN"
    assert ort_provider("rknn") == ""


def test_the_documentation_holds_the_table_as_it_is() -> None:
    document = (STARTER.parent.parent / "docs" / "npu.md").read_text(encoding="utf-8")
    assert markdown_table() in document, "run `python -c` as docs/npu.md says and paste what it prints"
