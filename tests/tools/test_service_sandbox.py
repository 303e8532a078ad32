from __future__ import annotations

from pathlib import Path

from tools.service_sandbox import environment, read_service, sandbox

UNIT = Path(__file__).resolve().parents[2] / "packaging/systemd/edge-asr.service"


def test_the_service_sees_no_home_and_writes_only_where_its_unit_says() -> None:
    options = sandbox(Path("/system"), read_service(UNIT))
    assert options == [
        *("--remount-ro", "/"),
        *("--tmpfs", "/home", "--tmpfs", "/root"),
        *("--tmpfs", "/tmp", "--tmpfs", "/var/tmp"),
        *("--bind", "/system/var/lib/edge-asr", "/var/lib/edge-asr"),
        *("--bind", "/system/run/edge-asr", "/run/edge-asr"),
    ]


def test_it_is_told_its_directories_and_no_home() -> None:
    assert dict(environment(read_service(UNIT))) == {
        "STATE_DIRECTORY": "/var/lib/edge-asr",
        "RUNTIME_DIRECTORY": "/run/edge-asr",
        "CONFIGURATION_DIRECTORY": "/etc/edge-asr",
        "WATCHDOG_USEC": "60000000",
    }


def test_nothing_is_hidden_that_the_unit_does_not_hide() -> None:
    assert sandbox(Path("/system"), {"RuntimeDirectory": "x"}) == ["--bind", "/system/run/x", "/run/x"]
