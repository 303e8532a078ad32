"""The way from a microphone to us: library, device, permission, and whoever sits on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from edge_asr.diagnosis.finding import Finding
from edge_asr.resources.accounts import Account
from edge_asr.resources.processes import RunningProgram
from edge_asr.resources.sound import CaptureDevice

_SOUND_SERVERS = frozenset({"pipewire", "wireplumber", "pulseaudio", "jackd", "jackdbus"})


def library_findings(missing: str) -> Iterator[Finding]:
    """Whether sound can be recorded at all.

    Args:
        missing: What the sound library's absence was reported with; empty when it is there.
    """
    if missing:
        yield Finding(
            "warning",
            "portaudio_missing",
            f"the sound library cannot be used: {missing}",
            "`edge-asr devices` and everything with a microphone needs it; files and network clients do not",
            "sudo apt install libportaudio2",
        )
    else:
        yield Finding("ok", "portaudio", "the sound library is there")


def device_findings(
    devices: Sequence[CaptureDevice], holders: Mapping[int, RunningProgram | None]
) -> Iterator[Finding]:
    """Which devices record, and who holds them.

    Args:
        devices: Of the kernel.
        holders: The program behind each ``holder_pid``; ``None`` when it cannot be told.
    """
    if not devices:
        yield Finding(
            "info",
            "no_capture_device",
            "no sound device that records",
            "only a microphone on this board needs one; files and network clients do not",
            "plug a microphone in; `arecord -l` must list it",
        )
    for device in devices:
        name = f"{device.name} ({device.alsa_name})"
        if device.holder_pid is None:
            yield Finding("ok", "capture_device", f"{name} records and is free")
            continue
        program = holders.get(device.holder_pid)
        who = f"{program.name} (process {program.pid})" if program else f"process {device.holder_pid}"
        is_server = program is not None and program.name in _SOUND_SERVERS
        yield Finding(
            "info" if is_server or (program is not None and program.is_ours) else "warning",
            "capture_device_held",
            f"{name} is held by {who}",
            "only one program can open a sound device directly; a second one is told that it is busy",
            'record through the sound server (the device called "default" or "pipewire")'
            if is_server
            else f"stop that program if it should not listen: kill {device.holder_pid}",
        )


def permission_findings(devices: Sequence[CaptureDevice], account: Account | None) -> Iterator[Finding]:
    """Whether this account may open sound devices; nothing where there are none."""
    if not devices or account is None or account.is_root:
        return
    if "audio" in account.groups:
        yield Finding("ok", "audio_group", "this account is in the group audio")
    elif "audio" in account.listed_groups:
        yield Finding(
            "warning",
            "audio_group_not_taken",
            f"{account.name} was put into the group audio after this login",
            "a running session keeps the groups it began with, so that no sound device can be opened",
            "log out and in again, or restart the board",
        )
    else:
        yield Finding(
            "warning",
            "audio_group_missing",
            f"{account.name or 'this account'} is not in the group audio",
            "sound devices belong to that group; on a board without desktop nothing else opens them",
            f"sudo usermod -aG audio {account.name or 'USER'} and log in again; in a unit: SupplementaryGroups=audio",
        )


def session_findings(group_path: str, servers: Sequence[str]) -> Iterator[Finding]:
    """Whether a service would reach the sound server of a user's session.

    Args:
        group_path: Our control group, such as ``/system.slice/edge-asr.service``.
        servers: Sockets of sound servers of users' sessions; empty when none runs.
    """
    if not servers:
        return
    sockets = ", ".join(servers)
    if group_path.startswith("/system.slice/"):
        yield Finding(
            "warning",
            "service_outside_session",
            f"this runs as a system service, and the sound server belongs to a user's session ({sockets})",
            "the sound server holds the microphone and does not speak with other users' programs",
            "run edge-asr as a service of that user (`systemctl --user`, `loginctl enable-linger USER`), or stop the "
            "sound server and record from the device directly",
        )
    else:
        yield Finding(
            "info",
            "sound_server",
            f"a sound server runs in a user's session ({sockets})",
            "it holds the microphone; a system service does not reach it, and it ends with the session",
            "for a service with a microphone: `systemctl --user` and `loginctl enable-linger USER`",
        )
