"""Which models a bench with a second pass sets beside each other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edge_asr.cli.bench_tiers import Tiers
from edge_asr.errors import ConfigurationError, ModelNotFound
from edge_asr.settings import SecondPassSettings
from edge_asr.store.store import InstalledModel, ModelStore


def tiers(store: ModelStore, *names: str, second: str, is_asked_for: bool = True) -> Tiers:
    named = [store.resolve(name) for name in names]
    return Tiers.of(store, named, SecondPassSettings(second), is_asked_for=is_asked_for)


def names_of(models: tuple[InstalledModel, ...]) -> list[str]:
    return [model.manifest.name for model in models]


def test_the_first_alone_both_and_the_second_alone(two_tiers: ModelStore) -> None:
    found = tiers(two_tiers, "small", second="better")
    assert [(model.manifest.name, found.behind(model)) for model in found.models] == [
        ("small", ("", "better")),
        ("better", ("",)),
    ]


def test_a_second_model_that_was_named_is_measured_once(two_tiers: ModelStore) -> None:
    assert names_of(tiers(two_tiers, "better", "small", second="better").models) == ["small", "better"]


def test_without_a_second_pass_models_are_measured_as_named(two_tiers: ModelStore) -> None:
    found = tiers(two_tiers, "small", "better", second="")
    assert (names_of(found.models), found.second) == (["small", "better"], None)
    assert found.behind(found.models[0]) == ("",)


@pytest.mark.parametrize("second", ["better", "nonesuch"])
def test_a_second_pass_that_is_only_configured_is_said_to_be_left_out(
    two_tiers: ModelStore, capsys: pytest.CaptureFixture[str], second: str
) -> None:
    found = tiers(two_tiers, "small", second=second, is_asked_for=False)
    assert (names_of(found.models), found.second) == (["small"], None)
    assert found.behind(found.models[0]) == ("",)
    assert capsys.readouterr().err == (
        f"edge-asr: note: the configured second pass, {second}, is left out; `--second-pass {second}` measures each "
        f"model without it, with it behind, and {second} alone\n"
    )


@pytest.mark.parametrize(("name", "second"), [("small", ""), ("better", "better")])
def test_where_no_second_pass_would_be_served_nothing_is_said_of_it(
    two_tiers: ModelStore, capsys: pytest.CaptureFixture[str], name: str, second: str
) -> None:
    assert names_of(tiers(two_tiers, name, second=second, is_asked_for=False).models) == [name]
    assert capsys.readouterr().err == ""


def test_a_model_that_does_not_stream_has_none_behind_it_and_says_so(
    two_tiers: ModelStore, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tiers(two_tiers, "better", second="better")
    assert (names_of(found.models), found.second) == (["better"], None)
    assert "better does not stream" in capsys.readouterr().err


def test_of_several_models_the_one_that_does_not_stream_is_named(
    two_tiers: ModelStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of the second model's name in another place is another model."""
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(two_tiers.resolve("better").directory, elsewhere)
    found = tiers(two_tiers, "small", str(elsewhere), second="better")
    assert [model.directory.name for model in found.models] == ["small", "elsewhere", "better"]
    assert "better does not stream" in capsys.readouterr().err
    tiers(two_tiers, "small", "better", second="better")
    assert capsys.readouterr().err == ""


def test_a_second_pass_that_streams_is_refused(two_tiers: ModelStore) -> None:
    with pytest.raises(ConfigurationError, match="does not hear whole segments"):
        tiers(two_tiers, "small", second="small")


def test_a_second_pass_that_is_not_installed_is_named(two_tiers: ModelStore) -> None:
    with pytest.raises(ModelNotFound, match="nonesuch"):
        tiers(two_tiers, "small", second="nonesuch")
