from __future__ import annotations

import os
from pathlib import Path

import pytest

from edge_asr.engines.native_load import (
    construct,
    fallback_line,
    load_error,
    model_files,
    relevant_line,
    session_options,
    with_notes,
)
from edge_asr.engines.providers import ProviderChoice
from edge_asr.errors import ModelDamaged, ModelTooNew, ProviderUnavailable
from edge_asr.families import FAMILIES
from edge_asr.settings import EngineSettings
from tests.support import tiny_models

FALLS_BACK = "/sherpa-onnx/csrc/session.cc:GetSessionOptionsImpl:123 Available providers: X, . Fallback to cpu!"


def run(factory, provider: str = "cpu", arguments=None, **settings) -> tuple[object, ProviderChoice]:
    return construct(
        factory,
        arguments or {},
        model="m",
        settings=EngineSettings(provider=provider, **settings),
        choice=ProviderChoice(provider),
    )


def test_idle_threads_sleep_by_default():
    assert session_options(EngineSettings()).splitlines() == [
        "SessionConfig.session.intra_op.allow_spinning=0",
        "SessionConfig.session.inter_op.allow_spinning=0",
    ]


def test_spinning_can_be_allowed():
    assert "SessionConfig.session.intra_op.allow_spinning=1" in session_options(EngineSettings(allow_spinning=True))


def test_eight_bit_products_can_be_kept_from_saturating():
    options = session_options(EngineSettings(exact_int8=True)).splitlines()
    assert options[2:] == ["SessionConfig.session.x64quantprecision=1"]


def test_little_memory_means_no_arena_and_no_pattern():
    options = session_options(EngineSettings(memory_profile="low")).splitlines()
    assert options[2:] == ["EnableCpuMemArena=0", "EnableMemPattern=0"]


def test_the_factory_reads_the_options_and_the_file_is_gone_afterwards():
    read: list[tuple[str, str]] = []

    def factory(provider: str, num_threads: int) -> str:
        name, path = provider.split(":")
        read.append((name, Path(path).read_text()))
        assert num_threads == 3
        return "recogniser"

    before = len(list(Path("/proc/self/fd").iterdir()))
    assert run(factory, threads=3) == ("recogniser", ProviderChoice("cpu"))
    assert read == [("cpu", session_options(EngineSettings()))]
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_paths_are_passed_as_text():
    def factory(encoder: str, **_others: object) -> str:
        return encoder

    assert run(factory, arguments={"encoder": Path("/m/encoder.onnx")})[0] == "/m/encoder.onnx"


def falls_back(**_arguments: object) -> str:
    os.write(2, f"{FALLS_BACK}\n".encode())  # as native code does, past Python's sys.stderr
    return "recogniser"


def test_a_provider_that_falls_back_without_saying_so_to_python_is_an_error():
    with pytest.raises(ProviderUnavailable, match="'xnnpack' is not available here: the engine says 'Available prov"):
        run(falls_back, "xnnpack")


def test_a_fallback_that_is_allowed_is_announced_and_named():
    recognizer, choice = run(falls_back, "xnnpack", fallback="cpu")
    assert (recognizer, choice.provider) == ("recogniser", "cpu")
    assert "provider 'xnnpack' was replaced by the CPU" in choice.notes[0]


def test_what_the_engine_said_still_reaches_standard_error(capfd):
    run(falls_back, "xnnpack", fallback="cpu")
    assert capfd.readouterr().err == f"{FALLS_BACK}\n"


def test_a_provider_that_runs_is_the_one_that_is_named():
    assert run(lambda **_arguments: "recogniser", "xnnpack")[1] == ProviderChoice("xnnpack")


def test_standard_error_is_put_back_when_the_factory_raises(capfd):
    def fails(**_arguments: object) -> None:
        raise RuntimeError("Load model from x failed:Protobuf parsing failed.")

    with pytest.raises(ModelDamaged, match="Protobuf parsing failed"):
        run(fails, "xnnpack")
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "after\n"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "Load model failed:/core/graph/model.cc:192 Model(ModelProto&&)\n Unsupported model IR version: 14, max "
            "supported IR version: 13\n",
            "it is written in ONNX file version (IR) 14; the installed runtime knows up to 13",
        ),
        (
            "Opset 27 is under development and support for this is limited. Current official support for domain "
            "ai.onnx is till opset 26.",
            "it is written in ONNX operator set 27; the installed runtime knows up to 26",
        ),
    ],
)
def test_a_file_newer_than_the_runtime_is_said_to_be(said, sentence):
    error = load_error("m", said)
    assert isinstance(error, ModelTooNew)
    assert error.reason == sentence


def test_anything_else_is_damage_in_one_line():
    error = load_error("m", "Load model from x failed:\n  Protobuf parsing failed.")
    assert isinstance(error, ModelDamaged)
    assert str(error) == "model 'm': the engine cannot load it: Load model from x failed: Protobuf parsing failed."


def test_the_last_line_counts_without_its_source_position():
    said = "first\n/x/online-lstm-transducer-model.cc:InitEncoder:117 'T' does not exist in the metadata\n\n"
    assert relevant_line(said) == "'T' does not exist in the metadata"
    assert relevant_line("") == ""


def test_a_fallback_is_found_among_other_lines():
    said = f"something\n{FALLS_BACK}\nsomething else"
    assert fallback_line(said) == "Available providers: X, . Fallback to cpu!"
    assert fallback_line("all is well") == ""


def test_empty_notes_are_left_out():
    assert with_notes(ProviderChoice("cpu", ("a",)), "", "b").notes == ("a", "b")


def test_a_role_without_a_file_is_named(tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path)
    del files["joiner"]
    with pytest.raises(ModelDamaged, match="the manifest names no file for joiner"):
        model_files(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), FAMILIES["lstm-transducer"])


def test_a_file_that_is_not_there_is_named(tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path)
    files["decoder"].unlink()
    with pytest.raises(ModelDamaged, match=r"the decoder file .*decoder\.onnx is missing"):
        model_files(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), FAMILIES["lstm-transducer"])
