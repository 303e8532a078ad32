"""The work of ``setup``: the steps in their order, and what becomes of a service that runs meanwhile."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from edge_asr.cli import exit_codes
from edge_asr.cli.config import write_new
from edge_asr.cli.configuration import SYSTEM_FILE, user_file
from edge_asr.cli.machine_notes import machine_notes
from edge_asr.cli.messages import remark
from edge_asr.cli.options import DEFAULT_MAX_WER, Invocation
from edge_asr.cli.settings_reference import default_document
from edge_asr.deployment.service import UNIT, Service, hidden_by, unit_template
from edge_asr.errors import ConfigurationError, MachineError
from edge_asr.settings import Settings
from edge_asr.store.locations import SYSTEM_STORE, store_locations

SYSTEM_UNITS = Path("/etc/systemd/system")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line said."""

    model: str
    """Empty for the active one."""
    streams: int
    is_of_the_user: bool
    is_tuned: bool
    is_tested: bool
    is_served: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One of the things that setup does."""

    name: str
    run: Callable[[], int]
    """Its exit code; anything but 0 is the end."""
    next_step: str = ""
    """What to do when it says no."""


def run_job(invocation: Invocation, wish: Wish) -> int:
    """Everything, in order.

    Raises:
        EdgeAsrError: What a step cannot do; those after it are not begun.
    """
    service = service_here(invocation.config_file, is_of_the_user=wish.is_of_the_user)
    if wish.model:
        _require_installed(wish.model)
    if wish.is_served:
        _require_rights(wish)
        service.check()
    with _quiet(service) if wish.is_served else contextlib.nullcontext():
        status = run_steps(list(_measuring(invocation, wish)))
    if status != exit_codes.DONE or not wish.is_served:
        return status
    return run_steps([Step("service", lambda: _serve(invocation, service, wish))])


def run_steps(steps: list[Step]) -> int:
    """One after the other, up to the first that says no; its exit code."""
    for step in steps:
        remark(f"setup: {step.name}")
        status = step.run()
        if status != exit_codes.DONE:
            advice = f"; {step.next_step}" if step.next_step else ""
            remark(f"setup: {step.name} said no, and nothing after it was done{advice}")
            return status
    return exit_codes.DONE


def service_here(config_file: Path | None, *, is_of_the_user: bool) -> Service:
    """The service that would run this very installation with the configuration of this command.

    Args:
        config_file: Named by ``--config``.
        is_of_the_user: Whether it is the user's.
    """
    folder = _user_units() if is_of_the_user else SYSTEM_UNITS
    named = ["--config", str(config_file.absolute())] if config_file else []
    home = _own_store() if is_of_the_user else None
    environment = {"EDGE_ASR_HOME": str(home)} if home else {}
    return Service([*program(), "serve", *named], folder, is_of_the_user, environment=environment)


def _own_store() -> Path | None:
    """The store that the environment names."""
    home = store_locations(os.environ).named
    return home.absolute() if home else None


def program() -> list[str]:
    """What starts the command line that runs, for somebody without our environment."""
    script = Path(sys.executable).with_name("edge-asr")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "edge_asr"]


def _measuring(invocation: Invocation, wish: Wish) -> Iterator[Step]:
    yield Step("doctor", lambda: _examine(invocation, wish), "mend what it calls an error, and run this again")
    if invocation.config_file is None:
        yield Step("configuration", lambda: _configure(wish))
    if wish.is_tuned:
        yield Step("tune", lambda: _tune(invocation, wish), "run this again at rest, or with --no-tune")
    if wish.is_tested:
        yield Step(
            "selftest",
            lambda: _test(invocation, wish),
            "mend what it names; a board that is never at rest is served untested with --no-selftest",
        )
    if wish.model:
        yield Step("model", lambda: _activate(invocation, wish))


def _settings(invocation: Invocation, wish: Wish) -> Settings:
    """As the service will have them: with what was tuned for the model that is named."""
    return invocation.configuration({"model": ("MODEL", wish.model or None)}).settings


def _examine(invocation: Invocation, wish: Wish) -> int:
    from edge_asr.cli.doctor import examine

    return examine(invocation, wish.model or None)


def _configure(wish: Wish) -> int:
    """A file in which everything is explained, for whoever wants to change something later; an existing one is kept."""
    path = user_file(os.environ) if wish.is_of_the_user or os.geteuid() != 0 else SYSTEM_FILE
    if path is None or path.exists():
        return exit_codes.DONE
    is_new_folder = not path.parent.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot make {path.parent}: {error.strerror}") from error
    write_new(path, machine_notes() + default_document())
    if path == SYSTEM_FILE:
        # The service is another user, and must read it whatever the umask of root's shell is.
        path.chmod(0o644)
        if is_new_folder:
            path.parent.chmod(0o755)
    return exit_codes.DONE


def _activate(invocation: Invocation, wish: Wish) -> int:
    from edge_asr.cli.activation import activate_here
    from edge_asr.cli.stores import open_store

    store = open_store()
    activate_here(store, wish.model, _settings(invocation, wish), DEFAULT_MAX_WER)
    store.activate(wish.model)
    return exit_codes.DONE


def _tune(invocation: Invocation, wish: Wish) -> int:
    from edge_asr.cli.tune_job import run_job as tune

    return tune(wish.model, wish.streams, None, invocation.configuration(with_profile=False).settings, is_dry=False)


def _test(invocation: Invocation, wish: Wish) -> int:
    from edge_asr.cli.selftest_job import run_job as test

    return test(wish.model, "default", None, None, _settings(invocation, wish))


def _serve(invocation: Invocation, service: Service, wish: Wish) -> int:
    from edge_asr.cli.stores import choose_model, open_store

    settings = invocation.configuration().settings
    model = choose_model(open_store(), settings.model)
    if not wish.is_of_the_user and (hidden := hidden_by(model.directory)):
        raise ConfigurationError(
            f"the service may not look into {hidden}, where model {model.manifest.name!r} is; "
            f"run `sudo EDGE_ASR_HOME=/var/lib/edge-asr edge-asr models import {model.directory}`"
        )
    path = service.install(unit_template(f"user/{UNIT}" if wish.is_of_the_user else UNIT))
    if path is not None:
        remark(f"{path} written")
    server = settings.server
    page = f"{'https' if server.tls_cert else 'http'}://{server.host}:{server.port}"
    again = (
        "whenever you log in (at boot: `sudo loginctl enable-linger $USER`)" if wish.is_of_the_user else "at every boot"
    )
    remark(f"the service runs, and will {again}; its page: {page}")
    return exit_codes.DONE


def _require_installed(model: str) -> None:
    """Before anything is examined.

    Raises:
        ModelError: No store has a model of that name; only such a one can become the active one.
    """
    from edge_asr.cli.stores import open_store

    open_store().find(model)


def _require_rights(wish: Wish) -> None:
    """Before minutes of work.

    Raises:
        MachineError: The machine's service is root's to install.
        ConfigurationError: The machine's service has its own place for models.
    """
    if wish.is_of_the_user:
        return
    if os.geteuid() != 0:
        raise MachineError("a service of the machine is root's to install: run this with sudo, or say --user")
    if (home := _own_store()) and home.resolve() != SYSTEM_STORE.resolve():
        raise ConfigurationError(
            f"a service of the machine keeps its models in {SYSTEM_STORE}, and EDGE_ASR_HOME is {home}; unset it, or "
            "make it your own service with --user"
        )


def _user_units() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or f"{os.environ.get('HOME', '')}/.config"
    return Path(base) / "systemd" / "user"


@contextlib.contextmanager
def _quiet(service: Service) -> Iterator[None]:
    """Without the daemon, which would disturb what is measured; as before, where anything fails."""
    was_active = service.is_active()
    if was_active:
        service.stop()
    try:
        yield
    finally:
        if was_active:
            service.start()
