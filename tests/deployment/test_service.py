"""The service of systemd, with a systemd that writes down what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from edge_asr.deployment.service import Service, hidden_by, unit_for, unit_template
from edge_asr.errors import ConfigurationError, MachineError

UNITS = Path("/etc/systemd/system")
COMMAND = ("/opt/edge-asr/bin/edge-asr", "serve")


class Systemd:
    """Remembers what it was told."""

    def __init__(self, status: int = 0) -> None:
        self.told: list[str] = []
        self._status = status

    def __call__(self, words: Sequence[str]) -> int:
        self.told.append(" ".join(words))
        return self._status


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    return tmp_path


def service(
    root: Path, command: Sequence[str] = COMMAND, *, user: bool = False, tell: Systemd | None = None
) -> Service:
    return Service(command, UNITS, user, root, tell or Systemd())


def packaged_for_users(root: Path) -> Path:
    unit = root / "usr/lib/systemd/user/edge-asr.service"
    unit.parent.mkdir(parents=True)
    unit.touch()
    return unit


def test_it_is_written_enabled_and_started(root: Path) -> None:
    systemd = Systemd()
    path = service(root, tell=systemd).install("[Service]\nExecStart=/somewhere/edge-asr serve\nRestart=no\n")
    assert path == root / "etc/systemd/system/edge-asr.service"
    assert path.read_text() == "[Service]\nExecStart=/opt/edge-asr/bin/edge-asr serve\nRestart=no\n"
    assert systemd.told == ["daemon-reload", "enable edge-asr.service", "restart edge-asr.service"]


def test_the_unit_of_a_package_is_left_alone(root: Path) -> None:
    packaged = root / "usr/lib/systemd/system/edge-asr.service"
    packaged.parent.mkdir(parents=True)
    packaged.write_text("of the package")
    systemd = Systemd()
    assert service(root, tell=systemd).install("other") is None
    assert packaged.read_text() == "of the package"
    assert not (root / "etc").exists()
    assert systemd.told[-1] == "restart edge-asr.service"


def test_a_package_s_unit_of_the_user_gets_the_user_s_store_beside_it(root: Path) -> None:
    packaged_for_users(root)
    mine = Service(COMMAND, Path("/units"), True, root, Systemd(), {"EDGE_ASR_HOME": "/srv/my store"})
    path = mine.install("other")
    assert path == root / "units/edge-asr.service.d/edge-asr-setup.conf"
    assert path.read_text().splitlines()[1:] == ["[Service]", 'Environment="EDGE_ASR_HOME=/srv/my store"']
    assert not (root / "units/edge-asr.service").exists()


@pytest.mark.parametrize("is_packaged", [True, False])
def test_a_store_that_is_named_no_more_is_forgotten(root: Path, is_packaged: bool) -> None:
    packaged = packaged_for_users(root)
    Service(COMMAND, UNITS, True, root, Systemd(), {"EDGE_ASR_HOME": "/srv/store"}).install("other")
    if not is_packaged:
        packaged.unlink()
    service(root, user=True).install("[Service]\nExecStart=x\n")
    assert list((root / "etc/systemd/system/edge-asr.service.d").iterdir()) == []


def test_the_user_s_service_is_the_user_s_systemd_s(root: Path) -> None:
    systemd = Systemd()
    assert service(root, user=True, tell=systemd).is_active()
    assert systemd.told == ["--user is-active edge-asr.service"]


def test_without_systemd_there_is_no_service(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="--no-service"):
        service(tmp_path).check()


def test_the_machine_s_service_cannot_run_a_program_in_a_home(root: Path) -> None:
    in_a_home = ["/home/pi/edge-asr/bin/edge-asr", "serve"]
    with pytest.raises(ConfigurationError, match="may not look into /home"):
        service(root, in_a_home).check()
    service(root, in_a_home, user=True).check()
    service(root).check()


def test_the_machine_s_service_cannot_read_a_configuration_in_a_home(root: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"may not look into /home, where /home/pi/c\.toml is"):
        service(root, [*COMMAND, "--config", "/home/pi/c.toml"]).check()


def test_the_unit_of_a_package_takes_no_configuration_file(root: Path) -> None:
    packaged = root / "usr/lib/systemd/system/edge-asr.service"
    packaged.parent.mkdir(parents=True)
    packaged.touch()
    with pytest.raises(ConfigurationError, match="takes no --config"):
        service(root, [*COMMAND, "--config", "/etc/other.toml"]).check()
    service(root, ["/home/pi/edge-asr/bin/edge-asr", "serve"]).check()
    packaged_for_users(root)
    with pytest.raises(ConfigurationError, match=r"reads ~/\.config/edge-asr/edge-asr\.toml and takes no --config"):
        service(root, [*COMMAND, "--config", "/etc/other.toml"], user=True).check()


def test_a_user_without_a_systemd_of_his_own_is_told_how_to_have_one(root: Path) -> None:
    def no_bus(words: Sequence[str]) -> int:
        raise MachineError(f"`systemctl {' '.join(words)}` failed: no bus")

    def check() -> None:
        with pytest.raises(MachineError, match=r"--user show-environment` failed: no bus; .* loginctl enable-linger"):
            Service(COMMAND, UNITS, True, root, no_bus).check()

    check()
    packaged_for_users(root)
    check()


def test_the_daemon_gets_the_variables_of_its_service() -> None:
    unit = unit_for("ExecStart=x\nRestart=no\n", ["/bin/edge-asr"], {"EDGE_ASR_HOME": "/srv/my store"})
    assert unit == 'ExecStart=/bin/edge-asr\nEnvironment="EDGE_ASR_HOME=/srv/my store"\nRestart=no\n'


@pytest.mark.parametrize(
    ("path", "hidden"), [("/root/x", "/root"), ("/home/pi", "/home"), ("/opt/home/x", None), ("/homes/x", None)]
)
def test_hidden_is_what_lies_in_a_home(path: str, hidden: str | None) -> None:
    assert hidden_by(Path(path)) == (Path(hidden) if hidden else None)


def test_odd_paths_are_quoted_for_systemd() -> None:
    unit = unit_for("ExecStart=x\n", ["/opt/my 100%/bin/edge-asr", "serve"])
    assert unit == 'ExecStart="/opt/my 100%%/bin/edge-asr" serve\n'


@pytest.mark.parametrize("name", ["edge-asr.service", "user/edge-asr.service"])
def test_the_units_that_come_along_start_what_is_installed(name: str) -> None:
    unit = unit_for(unit_template(name), COMMAND)
    assert unit.count("\nExecStart=/opt/edge-asr/bin/edge-asr serve\n") == 1
