"""Bad models: each ends or spoils the process that loads it; a trial makes a sentence of it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from edge_asr.engines.trial import death_of, trial_load
from edge_asr.errors import (
    ConfigurationError,
    EdgeAsrError,
    MachineError,
    ModelDamaged,
    ModelTooNew,
    ProviderUnavailable,
    UnknownProvider,
)
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.engine_cases import STARTER


def try_lstm(directory: Path, **model) -> None:
    files = tiny_models.write_lstm_transducer(directory, **model)
    trial_load(directory, tiny_models.tiny_manifest("lstm-transducer", files), EngineSettings())


def test_a_good_model_is_described_as_it_is_where_it_runs():
    described = trial_load(STARTER, read_manifest(STARTER / MANIFEST_FILE), EngineSettings())
    assert (described.model, described.provider, described.chunk_ms) == ("starter-en", "cpu", 320.0)
    assert described.is_streaming


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"without_metadata": ("T",)}, "the engine refuses it: 'T' does not exist in the metadata"),
        ({"without_metadata": ("vocab_size",)}, "'vocab_size' does not exist in the metadata"),
        ({"metadata": {"T": "abc"}}, "it loads but cannot decode: Got invalid dimensions"),
        ({"metadata": {"T": "77"}}, "it loads but cannot decode: Got invalid dimensions"),
        ({"tokens": ("<blk>", "a", "b c")}, "the engine refuses it: Error: b c 2"),
        ({"tokens": ("<blk>", "a")}, r"is tokens\.txt the model's own\?"),
    ],
    ids=["no T", "no vocab_size", "T is no number", "T is wrong", "tokens with a third column", "too few tokens"],
)
def test_a_damaged_model_is_refused_in_one_sentence(tmp_path, model, words):
    with pytest.raises(ModelDamaged, match=words) as caught:
        try_lstm(tmp_path, **model)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("model", [{"ir_version": 14}, {"opset": 27}], ids=["IR 14", "opset 27"])
def test_a_model_newer_than_the_runtime_is_said_to_be(tmp_path, model):
    with pytest.raises(ModelTooNew, match="the installed runtime knows up to"):
        try_lstm(tmp_path, **model)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02 random", b"<!DOCTYPE html><html></html>", b"version https://git-lfs.github.com/spec/v1\n"],
    ids=["empty", "random", "HTML", "a git-lfs pointer"],
)
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    files = tiny_models.write_lstm_transducer(tmp_path)
    files["encoder"].write_bytes(content)
    with pytest.raises(ModelDamaged):
        trial_load(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), EngineSettings())


def test_swapped_files_end_the_child_and_nothing_else(tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path)
    files["encoder"], files["decoder"] = files["decoder"], files["encoder"]
    with pytest.raises(ModelDamaged, match="the engine refuses it"):
        trial_load(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), EngineSettings())


@pytest.mark.parametrize("tokens", ["\ufeff{}", "{}\r\n"], ids=["byte order mark", "CRLF"])
def test_harmless_habits_of_editors_do_no_harm(tmp_path, tokens):
    files = tiny_models.write_lstm_transducer(tmp_path)
    lines = files["tokens"].read_text(encoding="utf-8").splitlines()
    ending = "\r\n" if "\r" in tokens else "\n"
    start = "\ufeff" if "\ufeff" in tokens else ""
    files["tokens"].write_text(start + ending.join(lines) + ending, encoding="utf-8", newline="")
    manifest = tiny_models.tiny_manifest("lstm-transducer", files)
    assert trial_load(tmp_path, manifest, EngineSettings()).provider == "cpu"


@pytest.mark.parametrize("provider", ["rknn", "qnn", "cuda", "xnnpack", "hailo"])
def test_a_provider_that_would_not_run_is_refused(provider):
    with pytest.raises(ProviderUnavailable, match=f"'{provider}' is not available here"):
        trial_load(STARTER, read_manifest(STARTER / MANIFEST_FILE), EngineSettings(provider=provider))


def test_an_unknown_provider_is_refused_without_a_child():
    with pytest.raises(UnknownProvider):
        trial_load(STARTER, read_manifest(STARTER / MANIFEST_FILE), EngineSettings(provider="bogus"))


def test_an_allowed_fallback_is_in_the_description():
    settings = EngineSettings(provider="xnnpack", fallback="cpu")
    described = trial_load(STARTER, read_manifest(STARTER / MANIFEST_FILE), settings)
    assert described.provider == "cpu (asked: xnnpack)"
    assert "'xnnpack' was replaced by the CPU" in described.notes[0]


def test_a_decoding_method_that_would_end_the_process_is_refused():
    settings = EngineSettings(decoding_method="modified_beam_search")
    with pytest.raises(ConfigurationError, match="set it to 'greedy_search'"):
        trial_load(STARTER, read_manifest(STARTER / MANIFEST_FILE), settings)


def test_a_model_that_takes_too_long_is_given_up():
    with pytest.raises(ModelDamaged, match=r"loading it took longer than 0\.001 s"):
        trial_load(STARTER, read_manifest(STARTER / MANIFEST_FILE), EngineSettings(), timeout_s=0.001)


@pytest.mark.parametrize(
    ("provider", "returncode", "said", "kind", "words"),
    [
        ("cpu", 255, "x.cc:Init:1 'T' does not exist", ModelDamaged, "the engine refuses it: 'T' does not exist"),
        ("cpu", 255, "", ModelDamaged, "it does not say why"),
        ("cpu", -signal.SIGSEGV, "", ModelDamaged, r"crashed on it with signal 11 \(SIGSEGV\)"),
        ("cpu", 1, "Traceback\nKeyError: 3", ModelDamaged, "exit status 1: KeyError: 3"),
        ("rknn", 255, "Please rebuild", ProviderUnavailable, "the engine refuses it: Please rebuild"),
        ("cpu", -signal.SIGILL, "", MachineError, "lacks instructions"),
        ("cpu", -signal.SIGKILL, "", MachineError, "lack of memory"),
    ],
)
def test_the_end_of_a_child_is_explained(provider, returncode, said, kind, words):
    error = death_of("m", provider, returncode, said)
    assert isinstance(error, EdgeAsrError)
    with pytest.raises(kind, match=words):
        raise error
