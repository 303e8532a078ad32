"""The daemon as a service of systemd: its unit for this installation, and what is said to systemd.

All files are below a replaceable root, and systemd is spoken to by a callable that tests replace.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from edge_asr.errors import ConfigurationError, MachineError

UNIT = "edge-asr.service"

DROP_IN = Path(f"{UNIT}.d/edge-asr-setup.conf")
"""What setup adds to a unit that is not ours to write."""

PACKAGED = (Path("usr/lib/systemd"), Path("lib/systemd"))
"""Where a distribution's package puts units; such a unit is right as it is."""

HIDDEN = (Path("/home"), Path("/root"), Path("/run/user"), Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - named, not used
"""What the system unit does not let the daemon see (``ProtectHome=``, ``PrivateTmp=``)."""

Systemctl = Callable[[Sequence[str]], int]
"""Runs ``systemctl`` with these words; its exit status."""


def systemctl(words: Sequence[str]) -> int:
    """Run ``systemctl``; what it says goes to standard error."""
    command = ["systemctl", *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if ran.returncode != 0 and "is-active" not in words:
        raise MachineError(f"`{' '.join(command)}` failed: {ran.stderr.strip() or ran.returncode}")
    return ran.returncode


@dataclass(frozen=True, slots=True)
class Service:
    """The service of this machine, or of one user.

    Args:
        command: What starts the daemon: program and words, the program by its absolute path.
        folder: Where a unit of our own goes, or what we add to the package's.
        is_of_the_user: Whether it is the user's.
        root: Of the file system; replaced by tests.
        tell: Speaks to systemd.
        environment: Variables that the daemon gets.
    """

    command: Sequence[str]
    folder: Path
    is_of_the_user: bool = False
    root: Path = Path("/")
    tell: Systemctl = systemctl
    environment: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Whether it can be a service at all, before minutes of measuring.

        Raises:
            MachineError: There is no systemd, or none of this user.
            ConfigurationError: The service would not see the program, its configuration or its models.
        """
        if not (self.root / "run/systemd/system").is_dir():
            raise MachineError(
                "no systemd runs here to start the daemon; leave that out with --no-service, and run `edge-asr serve`"
            )
        if self.is_packaged():
            self._require_what_the_package_has()
        elif not self.is_of_the_user:
            self._require_in_sight()
        if self.is_of_the_user:
            self._require_systemd_of_the_user()

    def _require_what_the_package_has(self) -> None:
        if "--config" in self.command:
            file = "~/.config/edge-asr/edge-asr.toml" if self.is_of_the_user else "/etc/edge-asr/edge-asr.toml"
            raise ConfigurationError(f"the package's unit reads {file} and takes no --config; write the settings there")

    def _require_systemd_of_the_user(self) -> None:
        try:
            self._tell("show-environment")
        except MachineError as error:
            raise MachineError(
                f"{error}; a user's own systemd runs for whoever has logged in (not by su or sudo), and always after "
                "`sudo loginctl enable-linger USER`"
            ) from error

    def _require_in_sight(self) -> None:
        for word in filter(os.path.isabs, self.command):
            if hidden := hidden_by(Path(word)):
                raise ConfigurationError(
                    f"the service may not look into {hidden}, where {word} is; put it elsewhere, such as into "
                    "/opt/edge-asr, or make it your own service with --user"
                )

    def is_packaged(self) -> bool:
        """Whether the distribution's package brought the unit."""
        kind = "user" if self.is_of_the_user else "system"
        return any((self.root / place / kind / UNIT).is_file() for place in PACKAGED)

    def is_active(self) -> bool:
        """Whether the daemon runs now."""
        return self._tell("is-active", UNIT) == 0

    def stop(self) -> None:
        """End the daemon; sessions may finish."""
        self._tell("stop", UNIT)

    def start(self) -> None:
        """Start it as it was, and wait until it is ready."""
        self._tell("start", UNIT)

    def install(self, template: str) -> Path | None:
        """Write the unit, or what the package's lacks, and start the service now and at every boot.

        Args:
            template: Text of the unit that edge-asr comes with.

        Returns:
            What was written, if anything was.

        Raises:
            MachineError: systemd says no, or the daemon does not get ready; with where to look.
        """
        path = self._add_to_the_package_s() if self.is_packaged() else self._write(template)
        self._tell("daemon-reload")
        self._tell("enable", UNIT)
        self._tell("restart", UNIT)  # of Type=notify: it returns when the daemon is ready
        return path

    def _write(self, template: str) -> Path:
        self._place(DROP_IN).unlink(missing_ok=True)  # of a package that was here before
        return self._put(UNIT, unit_for(template, self.command, self.environment))

    def _add_to_the_package_s(self) -> Path | None:
        if self.environment:
            lines = ["# Written by `edge-asr setup`.", "[Service]", *_variables(self.environment), ""]
            return self._put(DROP_IN, "\n".join(lines))
        self._place(DROP_IN).unlink(missing_ok=True)
        return None

    def _put(self, name: str | Path, text: str) -> Path:
        path = self._place(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def _place(self, name: str | Path) -> Path:
        return self.root / self.folder.relative_to("/") / name

    def _tell(self, *words: str) -> int:
        return self.tell(["--user", *words] if self.is_of_the_user else list(words))


def unit_for(template: str, command: Sequence[str], environment: Mapping[str, str] = MappingProxyType({})) -> str:
    """The unit that starts this command.

    Args:
        template: The unit that edge-asr comes with.
        command: Program and words.
        environment: Variables that it gets.
    """
    line = "\n".join([f"ExecStart={' '.join(map(_quoted, command))}", *_variables(environment)])
    return re.sub(r"^ExecStart=.*$", lambda _: line, template, count=1, flags=re.MULTILINE)


def hidden_by(path: Path) -> Path | None:
    """The folder of ``HIDDEN`` that a path leads into."""
    return next((folder for folder in HIDDEN if path.resolve().is_relative_to(folder)), None)


def unit_template(name: str) -> str:
    """The text of a unit that edge-asr comes with.

    Args:
        name: Such as ``edge-asr.service`` or ``user/edge-asr.service``.
    """
    package = Path(__file__).resolve().parent.parent
    in_wheel = package / "_systemd"
    folder = in_wheel if in_wheel.is_dir() else package.parent / "packaging" / "systemd"
    return (folder / name).read_text(encoding="utf-8")


def _variables(environment: Mapping[str, str]) -> list[str]:
    return [f"Environment={_quoted(f'{name}={value}')}" for name, value in environment.items()]


def _quoted(word: str) -> str:
    """A word as ``systemd.syntax(7)`` wants it: ``%`` and ``$`` would be replaced."""
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{word}"' if any(character.isspace() or character in "\"'\\;" for character in word) else word
