"""``edge-asr bundle``, with an index that is a folder."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.deployment.wheels import write_wheel


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """edge-asr's own; the only index has nothing but pip."""
    index, own = tmp_path / "index", tmp_path / "own"
    index.mkdir()
    own.mkdir()
    write_wheel(index, "pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return write_wheel(own, "edge-asr", version="1.2.3")


def names_in(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        return [name.partition("/")[2] for name in tar.getnames()]


def test_the_bundled_model_is_in_the_wheel_and_goes_along_with_it(run, wheel: Path, tmp_path: Path) -> None:
    ran = run("bundle", "-o", tmp_path / "b.tar", "--wheel", wheel, "--debian", "trixie")
    assert (ran.status, ran.out) == (0, "")
    assert f"{tmp_path}/b.tar written" in ran.err
    names = names_in(tmp_path / "b.tar")
    assert "install" in names
    assert not {"models/starter-en", "active", "edge-asr.toml"} & set(names)


def test_a_model_that_is_named_becomes_the_board_s_active_one(run, wheel: Path, tmp_path: Path) -> None:
    run("bundle", "-o", tmp_path / "b.tar", "--wheel", wheel, "--debian", "trixie", "-m", "starter-en")
    assert "active" in names_in(tmp_path / "b.tar")


def test_the_configuration_goes_along_when_it_is_right(run, wheel: Path, tmp_path: Path) -> None:
    settings = tmp_path / "board.toml"
    settings.write_text("[engine]\nthreads = 2\n")
    run("bundle", "-o", tmp_path / "b.tar", "--wheel", wheel, "--debian", "trixie", "--config", settings)
    assert "edge-asr.toml" in names_in(tmp_path / "b.tar")


def test_a_wrong_configuration_is_refused_before_anything_is_fetched(run, wheel: Path, tmp_path: Path) -> None:
    settings = tmp_path / "board.toml"
    settings.write_text("[engine]\ntreads = 2\n")
    refused = run("bundle", "-o", tmp_path / "b.tar", "--wheel", wheel, "--config", settings)
    assert refused.status == 2
    assert "did you mean" in refused.err
    assert not (tmp_path / "b.tar").exists()


def test_a_name_that_is_no_archive_of_tar_is_refused_before_anything_is_fetched(
    run, wheel: Path, tmp_path: Path
) -> None:
    refused = run("bundle", "-o", tmp_path / "b.zip", "--wheel", wheel)
    assert (refused.status, refused.err.splitlines()) == (
        2,
        [f"edge-asr: error: {tmp_path}/b.zip is no name of a tar archive; end it in .tar or .tar.gz or .tgz"],
    )


def test_a_model_that_is_not_here_is_the_model_s_fault(run, wheel: Path, tmp_path: Path) -> None:
    refused = run("bundle", "-o", tmp_path / "b.tar", "--wheel", wheel, "-m", "no-such-model")
    assert refused.status == 4
    assert "no-such-model" in refused.err


def test_wheels_that_cannot_be_had_are_the_machine_s_fault(run, wheel: Path, tmp_path: Path) -> None:
    needs = write_wheel(wheel.parent, "edge-asr", ["absent"], version="1.2.4")
    refused = run("bundle", "-o", tmp_path / "b.tar", "--wheel", needs, "--debian", "bookworm")
    assert refused.status == 5
    assert "absent" in refused.err
    assert not (tmp_path / "b.tar").exists()
