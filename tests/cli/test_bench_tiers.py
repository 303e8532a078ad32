"""Which models a bench with a second pass sets beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.cli.bench_tiers import Tiers
from edge_asr.errors import ConfigurationError, ModelNotFound
from edge_asr.manifest import format_manifest
from edge_asr.settings import SecondPassSettings
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import InstalledModel, ModelStore
from tests.support import tiny_models


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    """Nothing in it is ever loaded."""
    for name, family in (("small", "zipformer2-ctc"), ("better", "nemo-ctc")):
        directory = tmp_path / "models" / name
        manifest = tiny_models.tiny_manifest(family, tiny_models.write_nemo_ctc_offline(directory), name=name)
        (directory / "manifest.toml").write_text(format_manifest(manifest), encoding="utf-8")
    return ModelStore(StoreLocations((tmp_path,), tmp_path))


def tiers(store: ModelStore, *names: str, second: str, is_asked_for: bool = True) -> Tiers:
    named = [store.resolve(name) for name in names]
    return Tiers.of(store, named, SecondPassSettings(second), is_asked_for=is_asked_for)


def names_of(models: tuple[InstalledModel, ...]) -> list[str]:
    return [model.manifest.name for model in models]


def test_the_first_alone_both_and_the_second_alone(store: ModelStore) -> None:
    found = tiers(store, "small", second="better")
    assert [(model.manifest.name, found.behind(model)) for model in found.models] == [
        ("small", ("", "better")),
        ("better", ("",)),
    ]


def test_a_second_model_that_was_named_is_measured_once(store: ModelStore) -> None:
    assert names_of(tiers(store, "better", "small", second="better").models) == ["small", "better"]


def test_without_a_second_pass_models_are_measured_as_named(store: ModelStore) -> None:
    found = tiers(store, "small", "better", second="")
    assert (names_of(found.models), found.second) == (["small", "better"], None)
    assert found.behind(found.models[0]) == ("",)


@pytest.mark.parametrize("second", ["better", "nonesuch"])
def test_a_second_pass_that_is_only_configured_is_said_to_be_left_out(
    store: ModelStore, capsys: pytest.CaptureFixture[str], second: str
) -> None:
    found = tiers(store, "small", second=second, is_asked_for=False)
    assert (names_of(found.models), found.second) == (["small"], None)
    assert found.behind(found.models[0]) == ("",)
    assert capsys.readouterr().err == (
        f"edge-asr: note: the configured second pass, {second}, is left out; `--second-pass {second}` measures each "
        f"model without it, with it behind, and {second} alone\n"
    )


@pytest.mark.parametrize(("name", "second"), [("small", ""), ("better", "better")])
def test_where_no_second_pass_would_be_served_nothing_is_said_of_it(
    store: ModelStore, capsys: pytest.CaptureFixture[str], name: str, second: str
) -> None:
    assert names_of(tiers(store, name, second=second, is_asked_for=False).models) == [name]
    assert capsys.readouterr().err == ""


def test_a_model_that_does_not_stream_has_none_behind_it_and_says_so(
    store: ModelStore, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tiers(store, "better", second="better")
    assert (names_of(found.models), found.second) == (["better"], None)
    assert "better does not stream" in capsys.readouterr().err


def test_a_second_pass_that_streams_is_refused(store: ModelStore) -> None:
    with pytest.raises(ConfigurationError, match="does not hear whole segments"):
        tiers(store, "small", second="small")


def test_a_second_pass_that_is_not_installed_is_named(store: ModelStore) -> None:
    with pytest.raises(ModelNotFound, match="nonesuch"):
        tiers(store, "small", second="nonesuch")
