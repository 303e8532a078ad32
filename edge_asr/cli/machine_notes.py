"""The head of a new configuration file: what could be found out about the machine, so that nobody has to ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from edge_asr.cli.stores import active_name, open_store
from edge_asr.resources.board import BoardFingerprint, read_board
from edge_asr.resources.sound import CaptureDevice, read_capture_devices, read_sound_cards

_HEADING = "# This machine, when the file was written:"


def machine_notes(root: Path = Path("/")) -> str:
    """Comments: board, cores, memory, the active model, and how its microphones would be set.

    Args:
        root: Of the file system; replaced by tests.
    """
    cards = {card.number: card.card_id for card in read_sound_cards(root)}
    microphones = [(device, cards.get(device.card, "")) for device in read_capture_devices(root)]
    lines = [*_board_lines(read_board(root)), f"model: {active_name(open_store())} is the active one"]
    lines += [_microphone_line(device, card_id) for device, card_id in microphones] or ["microphones: none"]
    return "\n".join([_HEADING, *(f"#   {line}" for line in lines)]) + "\n\n"


def _board_lines(board: BoardFingerprint) -> Iterator[str]:
    cores = ", ".join(f"{cluster.physical_cores} × {cluster.name}" for cluster in board.clusters)
    yield f"{board.model or board.architecture or 'unnamed'}: {cores or 'cores unknown'}"
    if board.memory_bytes:
        yield f"memory: {board.memory_bytes >> 20} MiB"


def _microphone_line(device: CaptureDevice, card_id: str) -> str:
    return f'microphone: {device.name} ([microphone] device = "{card_id or device.alsa_name}")'
