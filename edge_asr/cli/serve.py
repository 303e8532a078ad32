"""``edge-asr serve``: options to settings, and the daemon."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

import click

from edge_asr.cli.options import (
    Invocation,
    commands_option,
    common_options,
    model_option,
    pass_invocation,
    provider_option,
    second_pass_option,
    setting_option,
    text_options,
)
from edge_asr.errors import ConfigurationError
from edge_asr.settings import Settings


@click.command()
@model_option
@provider_option
@commands_option
@second_pass_option
@text_options
@setting_option(
    "server.host", "--host", metavar="HOST", help="Address for HTTP and websocket; 0.0.0.0 for every interface."
)
@setting_option(
    "server.port", "--port", type=int, metavar="PORT", help="Port for HTTP and websocket; 0 takes a free one."
)
@setting_option("server.wyoming", "--wyoming", metavar="URI", help="tcp://HOST:PORT, unix://PATH or off.")
@setting_option(
    "server.zeroconf",
    "--zeroconf",
    is_flag=True,
    help="Announce Wyoming in the local network, for Home Assistant to find.",
)
@setting_option(
    "server.vosk_port", "--vosk-port", type=int, metavar="PORT", help="Port for Vosk's protocol alone, such as 2700."
)
@setting_option(
    "server.sherpa_port",
    "--sherpa-port",
    type=int,
    metavar="PORT",
    help="Port for sherpa-onnx's protocols alone, such as 6006.",
)
@setting_option(
    "microphone.device", "--mic", metavar="DEVICE", help="Listen to this sound device too; default for the default one."
)
@setting_option(
    "server.allow",
    "--allow",
    multiple=True,
    metavar="CIDR",
    help="Network whose clients may use doors without credentials (wyoming, vosk, sherpa); may be given several times.",
)
@setting_option(
    "server.token_file", "--token-file", metavar="FILE", help="File with the bearer token that HTTP clients must send."
)
@setting_option("server.tls_cert", "--tls-cert", metavar="FILE", help="Certificate chain in PEM; serves https and wss.")
@setting_option("server.tls_key", "--tls-key", metavar="FILE", help="Private key of the certificate.")
@setting_option(
    "server.insecure",
    "--insecure",
    multiple=True,
    metavar="DOOR",
    help="Let everybody use this door (http, wyoming, vosk or sherpa); may be given several times.",
)
@click.option("--trace", type=click.Choice(["next"]), help="Write the first session down, into log.trace_directory.")
@common_options
@pass_invocation
def serve(
    invocation: Invocation,
    trace: str | None,
) -> None:
    """Run the daemon.

    HTTP and websocket share one port; Wyoming (for Home Assistant) has its own. Both listen on this machine only
    unless told otherwise. SIGTERM lets running sessions finish. SIGHUP reads the configuration and the token again and
    applies what can be applied while sessions run, the model among it; the log says what needs a restart.

    \b
    Example:
      edge-asr serve
      edge-asr serve --wyoming tcp://0.0.0.0:10300 --allow 192.168.1.0/24
    """
    run_daemon(invocation, traced_session=trace or "")


def run_daemon(invocation: Invocation, *, traced_session: str = "") -> None:
    """Merge the configuration, find the model, serve."""
    from edge_asr.cli.admin_socket import admin_socket_to_open
    from edge_asr.cli.messages import remark
    from edge_asr.cli.model_notes import notes_on
    from edge_asr.cli.stores import choose_model, open_store
    from edge_asr.daemon import Surroundings, serve
    from edge_asr.servers.access import DOORS
    from edge_asr.servers.activation import inherited_descriptors

    settings = invocation.configuration().settings
    _log_at(settings.log.level, invocation.verbosity)
    store = open_store()
    model = choose_model(store, settings.model)
    for note in notes_on(store, model, settings):
        remark(note)
    admin_socket, is_named = admin_socket_to_open(settings.server.admin_socket, os.environ)

    def read_settings(name: str) -> Settings:
        return invocation.configuration({"model": ("the model asked for", name or None)}).settings

    surroundings = Surroundings(
        notify_socket=os.environ.get("NOTIFY_SOCKET", ""),
        watchdog_s=_watchdog_s(os.environ),
        spool_directory=_spool_directory(os.environ),
        inherited=inherited_descriptors(os.environ, os.getpid(), (*DOORS, "admin")),
        admin_socket=admin_socket,
        needs_admin_socket=is_named,
        trace_directory=_trace_directory(settings.log.trace_directory, os.environ),
        traced_session=traced_session,
    )
    serve(settings, store, model, surroundings, read_settings)


def _log_at(level: str, verbosity: int) -> None:
    """The configured level, unless ``-v`` asks for more."""
    asked = (logging.ERROR, logging.INFO, logging.DEBUG)[min(verbosity, 2)]
    configured = logging.getLevelNamesMapping()[level.upper()]
    logging.getLogger("edge_asr").setLevel(min(asked, configured))


def _watchdog_s(environment: Mapping[str, str]) -> float:
    """systemd's watchdog period; it concerns us unless it names another process."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return 0.0
    try:
        return int(environment.get("WATCHDOG_USEC", "0")) / 1e6
    except ValueError as error:
        raise ConfigurationError(f"WATCHDOG_USEC={environment['WATCHDOG_USEC']!r} is not a whole number") from error


def _trace_directory(setting: str, environment: Mapping[str, str]) -> Path | None:
    """Where sessions are written down on request; ``None`` for a user without any place."""
    if setting:
        return Path(setting)
    if state := environment.get("STATE_DIRECTORY"):
        return Path(state.partition(":")[0]) / "traces"
    if state := environment.get("XDG_STATE_HOME"):
        return Path(state) / "edge-asr" / "traces"
    if home := environment.get("HOME"):
        return Path(home) / ".local" / "state" / "edge-asr" / "traces"
    return None


def _spool_directory(environment: Mapping[str, str]) -> Path | None:
    """What systemd made for us to write to; ``/tmp`` is often memory."""
    for name in ("CACHE_DIRECTORY", "RUNTIME_DIRECTORY"):
        if environment.get(name):
            return Path(environment[name].partition(":")[0])
    return None
