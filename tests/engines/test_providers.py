from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from edge_asr.engines.providers import (
    KNOWN_PROVIDERS,
    ProviderChoice,
    choose_provider,
    fitting,
    known_provider,
    providers_here,
    providers_of,
    why_unavailable,
)
from edge_asr.errors import ProviderUnavailable, UnknownProvider
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelFile, ModelManifest
from edge_asr.settings import EngineSettings
from tests.support.tiny_models import tiny_manifest

CTC = FAMILIES["zipformer2-ctc"]

NOT_IN_THE_PUBLISHED_WHEEL = (
    "cuda", "trt", "rknn", "qnn", "openvino", "spacemit", "ascend", "axera", "axcl", "coreml", "nnapi", "directml",
)  # fmt: skip


@pytest.mark.parametrize("name", ["bogus", "cpu:/tmp/options", "", "gpu"])
def test_a_name_no_build_knows_is_refused_with_those_that_exist(name):
    with pytest.raises(UnknownProvider, match="use one of: cpu, rknn, qnn"):
        known_provider(name)


def test_names_are_known_whatever_their_case():
    assert known_provider(" CPU ") == "cpu"


@pytest.mark.parametrize("provider", NOT_IN_THE_PUBLISHED_WHEEL)
def test_the_published_wheel_is_seen_to_lack_the_provider(provider):
    assert why_unavailable(provider)


def test_the_cpu_is_always_there():
    assert why_unavailable("cpu") == ""


@pytest.mark.parametrize("provider", NOT_IN_THE_PUBLISHED_WHEEL)
def test_a_provider_that_is_not_there_is_an_error(provider):
    with pytest.raises(ProviderUnavailable, match=f"provider '{provider}' is not available here"):
        choose_provider(EngineSettings(provider=provider), CTC)


@pytest.mark.parametrize("provider", NOT_IN_THE_PUBLISHED_WHEEL)
def test_a_provider_that_is_not_there_is_replaced_where_that_is_allowed(provider):
    choice = choose_provider(EngineSettings(provider=provider, fallback="cpu"), CTC)
    assert choice.provider == "cpu"
    assert choice.label == f"cpu (asked: {provider})"
    assert choice.notes[0].startswith(f"provider '{provider}' was replaced by the CPU: ")


def package(directory: Path, module: bytes, *libraries: str) -> Path:
    """A sherpa_onnx package with this extension module and these libraries beside it."""
    (directory / "lib").mkdir()
    (directory / "lib" / "_sherpa_onnx.cpython-311-aarch64-linux-gnu.so").write_bytes(module)
    for library in libraries:
        (directory / "lib" / library).touch()
    return directory


def test_a_build_that_would_not_refuse_the_provider_has_it(tmp_path):
    assert why_unavailable("rknn", package(tmp_path, b"\x7fELF librknnrt.so")) == ""


def test_a_build_that_would_refuse_the_provider_lacks_it(tmp_path):
    refusing = package(tmp_path, b"\x7fELF Please rebuild sherpa-onnx with -DSHERPA_ONNX_ENABLE_RKNN=ON if you want")
    assert why_unavailable("rknn", refusing) == "the installed sherpa-onnx was built without it"


def test_a_provider_with_a_library_of_its_own_needs_it(tmp_path):
    with_cuda = package(tmp_path, b"\x7fELF", "libonnxruntime_providers_cuda.so")
    assert why_unavailable("cuda", with_cuda) == ""
    assert "libonnxruntime_providers_tensorrt.so" in why_unavailable("trt", with_cuda)


def test_every_known_provider_can_be_judged(tmp_path):
    for provider in KNOWN_PROVIDERS:
        assert isinstance(why_unavailable(provider), str)


def manifest(**files: str) -> ModelManifest:
    """Of a streaming CTC model with these files by role."""
    named = {role: ModelFile(path=path, size_bytes=1, sha256="0" * 64) for role, path in files.items()}
    return msgspec.structs.replace(tiny_manifest("zipformer2-ctc", {}), files=named)


def test_what_a_model_was_compiled_for_decides_what_can_run_it():
    assert providers_of(manifest(model="model.rknn")) == ["rknn"]
    assert "qnn" not in providers_of(manifest(model="model.onnx"))
    assert {"cpu", "qnn"} <= set(providers_of(manifest(model="model.onnx", model_context="model_ctx.onnx")))


MAY_FALL_BACK = EngineSettings(provider="rknn", fallback="cpu")


def test_the_cpu_does_not_take_the_place_of_an_npu_whose_files_it_cannot_read():
    choice = choose_provider(MAY_FALL_BACK, CTC)
    assert fitting(choice, manifest(model="model.onnx"), MAY_FALL_BACK) is choice
    with pytest.raises(ProviderUnavailable, match=r"built without it; but model .* is compiled for the NPU"):
        fitting(choice, manifest(model="model.rknn"), MAY_FALL_BACK)


def test_an_npu_is_given_no_files_that_are_not_compiled_for_it():
    on_npu, not_compiled = ProviderChoice("rknn"), manifest(model="model.onnx")
    assert fitting(on_npu, not_compiled, MAY_FALL_BACK).label == "cpu (asked: rknn)"
    with pytest.raises(ProviderUnavailable, match="is not compiled for it; install k2's wheel"):
        fitting(on_npu, not_compiled, EngineSettings(provider="rknn"))
    assert fitting(on_npu, manifest(model="model.rknn"), EngineSettings(provider="rknn")) is on_npu


def test_here_are_the_processor_and_npus_that_are_installed(monkeypatch):
    compiled = manifest(model="model.onnx", model_context="model_ctx.onnx")
    monkeypatch.setattr("edge_asr.engines.providers.why_unavailable", lambda _provider: "not installed")
    assert providers_here(compiled) == ["cpu"]
    monkeypatch.setattr("edge_asr.engines.providers.why_unavailable", lambda _provider: "")
    assert providers_here(compiled) == ["cpu", "qnn"]
