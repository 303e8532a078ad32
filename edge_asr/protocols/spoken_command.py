"""What was meant by a final, for protocols whose answers have room for more fields than the text."""

from __future__ import annotations

from typing import Any

from edge_asr.events import Final


def command_fields(final: Final) -> dict[str, Any]:
    """``intent``, ``slots`` and ``score`` of a recognised command, ``open_text`` where commands are listened for.

    Nothing where they are not: the answers of open speech stay what the protocol's own server would send.
    """
    fields: dict[str, Any] = {} if final.open_text is None else {"open_text": final.open_text}
    if final.command is not None:
        command = final.command
        fields |= {"intent": command.intent, "slots": command.slots, "score": command.score}
    return fields
