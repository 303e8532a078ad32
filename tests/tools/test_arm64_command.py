from __future__ import annotations

from pathlib import Path

from tools.arm64_command import emulated_environment


def test_emulated_commands_come_first():
    environment = emulated_environment({"PATH": "/usr/bin", "HOME": "/root"}, Path("/sysroot/bin"))
    assert environment == {"PATH": "/sysroot/bin:/usr/bin", "HOME": "/root"}


def test_nothing_leads_to_the_hosts_python():
    host = {"PATH": "/venv/bin", "PYTHONPATH": "/a", "PYTHONHOME": "/b", "VIRTUAL_ENV": "/venv"}
    assert emulated_environment(host, Path("/sysroot/bin")) == {"PATH": "/sysroot/bin:/venv/bin"}
