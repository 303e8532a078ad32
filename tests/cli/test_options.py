"""What several commands share."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from edge_asr.cli.configuration import Configuration
from edge_asr.cli.options import (
    FiniteRange,
    Invocation,
    pass_invocation,
    provider_option,
    setting_option,
    text_options,
    write_named,
)

SECONDS = FiniteRange(5, 100)


@pytest.mark.parametrize(("given", "number"), [("5", 5.0), ("99.5", 99.5), ("1e2", 100.0)])
def test_a_number_within_the_range_is_taken(given: str, number: float) -> None:
    assert SECONDS.convert(given, None, None) == number


@pytest.mark.parametrize("given", ["nan", "-nan", "inf", "4.9", "five"])
def test_anything_else_is_a_usage_error(given: str) -> None:
    with pytest.raises(click.BadParameter, match=given):
        SECONDS.convert(given, None, None)


def test_a_dash_is_standard_output_and_no_file_of_that_name(tmp_path: Path, monkeypatch, capsysbinary) -> None:
    monkeypatch.chdir(tmp_path)

    write_named(Path("-"), b"{}")
    write_named(Path("a.json"), b"[]")

    assert capsysbinary.readouterr().out == b"{}"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.json", b"[]")]


READ: list[Configuration] = []


@click.command()
@provider_option
@text_options
@setting_option("server.allow", "--allow", multiple=True)
@pass_invocation
def configured(invocation: Invocation) -> None:
    """A command that only looks at its configuration."""
    READ.append(invocation.configuration({"endpoint.silence_ms": ("--silence", 700), "engine.threads": ("-t", None)}))


def configuration_of(*words: str) -> Configuration:
    assert CliRunner().invoke(configured, words, catch_exceptions=False).exit_code == 0
    return READ.pop()


def test_an_option_that_is_a_setting_is_in_the_configuration_with_its_name(alone: Path) -> None:
    found = configuration_of("--provider", "cuda", "--no-itn", "--allow", "10.0.0.0/8", "--allow", "fd00::/8")
    assert (found.settings.engine.provider, found.settings.text.itn) == ("cuda", False)
    assert found.settings.server.allow == ("10.0.0.0/8", "fd00::/8")
    assert [found.origins[path] for path in ("engine.provider", "text.itn")] == ["--provider", "--itn"]


def test_options_that_were_not_given_leave_every_setting_as_it_was(alone: Path) -> None:
    found = configuration_of()
    assert [path for path, origin in found.origins.items() if origin != "default"] == ["endpoint.silence_ms"]
