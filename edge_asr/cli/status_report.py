"""Fetching ``/status`` and writing it for people."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any

from edge_asr.cli.daemon_address import DaemonAddress, parse_address
from edge_asr.errors import MachineError

TIMEOUT_S = 10.0


def fetch(url: str, token_file: str | None) -> dict[str, Any]:
    """The document of a daemon.

    Raises:
        ConfigurationError: The URL is none, or the daemon wants another token.
        MachineError: No daemon answers there.
    """
    address = parse_address(url, ("http", "https"), token_file)
    status, content = _get(address)
    if status == 401:
        raise address.forbidden()
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if status != 200 or not isinstance(document, dict) or "state" not in document:
        raise MachineError(f"what answers at {url} (with status {status}) is no edge-asr daemon")
    return document


def _get(address: DaemonAddress) -> tuple[int, bytes]:
    context = address.tls_context
    connection = (
        http.client.HTTPSConnection(address.host, address.port, timeout=TIMEOUT_S, context=context)
        if context is not None
        else http.client.HTTPConnection(address.host, address.port, timeout=TIMEOUT_S)
    )
    try:
        connection.request("GET", address.with_path("/status"), headers=dict(address.headers))
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException) as error:
        raise address.unreachable(error) from error
    finally:
        connection.close()


_WHY_SKIPPED = {
    "late": "late",
    "foreseen_late": "not begun, as it would have been late",
    "too_long": "too long for it",
    "failed": "failed",
}
"""Outcome of a second pass in ``stats`` to words."""


def render(document: dict[str, Any]) -> str:
    """One line per figure."""
    lines = [("state", _state(document)), *_model_lines(document["model"]), *_figure_lines(document)]
    lines += [(f"worker {worker['name']}", _worker(worker)) for worker in document.get("workers", ())]
    lines += [(f"{door['door']} door", f"{door['address']}, {door['access']}") for door in document["doors"]]
    width = max(len(name) for name, _ in lines)
    return "".join(f"{name:<{width}}  {value}\n" for name, value in lines)


def _state(document: dict[str, Any]) -> str:
    reason = f": {document['reason']}" if document["reason"] else ""
    return f"{document['state']}{reason} (edge-asr {document['version']}, up {_duration(document['uptime_s'])})"


def _model_lines(model: dict[str, Any] | None) -> list[tuple[str, str]]:
    if model is None:
        return [("model", "none loaded")]
    threads = f"{model['threads']} thread{'s' if model['threads'] != 1 else ''}"
    lines = [
        ("model", f"{model['model']} ({model['family']}; {', '.join(model['languages'])})"),
        ("provider", f"{model['provider']}, {threads}"),
    ]
    return lines + [("note", note) for note in model["notes"]]


def _figure_lines(document: dict[str, Any]) -> list[tuple[str, str]]:
    stats, memory, celsius = document["stats"], document["memory_bytes"], document["temperature_c"]
    rtf = f"{document['rtf']:.3f}" if document["rtf"] is not None else "nothing decoded yet"
    microphone = document.get("microphone")
    return [
        ("sessions", f"{document['sessions']} of {document['max_sessions']}"),
        ("real-time factor", rtf),
        ("decoded", f"{_duration(stats['audio_s'] if stats else 0)} of audio"),
        *_second_pass((document["model"] or {}).get("second_pass", ""), (stats or {}).get("second_passes", {})),
        ("memory", f"worker {_mib(memory['worker'])}, front {_mib(memory['front'])}"),
        ("temperature", f"{celsius:.0f} °C" if celsius is not None else "no sensor"),
        *([("NPU", _npu(loads))] if (loads := document.get("npu_loads")) else []),
        ("restarts", str(document["restarts"])),
        *([("microphone", _microphone(microphone))] if microphone else []),
    ]


def _second_pass(model: str, passes: Mapping[str, int]) -> list[tuple[str, str]]:
    """Finals of the second model, and why others are the first one's; nothing where there is none."""
    if not model:
        return []
    skipped = [f"{passes[why]} {words}" for why, words in _WHY_SKIPPED.items() if passes.get(why)]
    why = f"; the first model's: {', '.join(skipped)}" if skipped else ""
    return [("second pass", f"{model}, finals: {passes.get('done', 0)}{why}")]


def _npu(loads: dict[str, float]) -> str:
    return ", ".join(f"{core} {load:.0%}" for core, load in loads.items()) + " busy"


def _microphone(microphone: dict[str, str]) -> str:
    device = f"{microphone['device']}: " if microphone["device"] else ""
    return f"{device}{microphone['message']}"


def _worker(worker: dict[str, Any]) -> str:
    """Its model where it is not the only one's, its cores, what it carries, and its memory."""
    capacity, limit = worker["capacity_streams"], worker["memory_limit_bytes"]
    carries = f" of {capacity:.1f}" if capacity is not None else ""
    facts = [
        f"{worker['model']} ({worker['role']}, {worker['state']})",
        f"{_sessions(worker['sessions'])} {worker['needed_streams']:.1f}{carries} streams",
        f"{worker['busy']:.0%} busy",
        f"{_mib(worker['memory_bytes'])}{f' of {_mib(limit)}' if limit else ''}",
        f"cores {', '.join(map(str, worker['cpus']))}" if worker["cpus"] else "any core",
    ]
    if worker["escaped_threads"]:
        facts.append(f"{worker['escaped_threads']} THREADS OUTSIDE THEM")
    return "; ".join(facts)


def _sessions(number: int) -> str:
    return "1 session needs" if number == 1 else f"{number} sessions need"


def _mib(count: int) -> str:
    return f"{count / 2**20:.0f} MiB"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    shown = [f"{count} {unit}" for count, unit in parts if count][:2]
    return " ".join(shown) or "0 s"
