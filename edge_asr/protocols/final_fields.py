"""What a final holds besides its text, for protocols whose answers have room for more than their own server says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edge_asr.events import Final
from edge_asr.subtitles import joined_text


def final_fields(final: Final) -> dict[str, Any]:
    """Of one segment; only what there is, so that plain speech is answered as the protocol's own server would.

    ``intent``, ``slots`` and ``score`` of a recognised command, ``open_text`` where commands are listened for,
    ``raw_text`` where texts may be written otherwise than they were heard, ``tags`` where the model gives any,
    ``speaker`` where voices are compared with those enrolled.
    """
    fields: dict[str, Any] = {} if final.open_text is None else {"open_text": final.open_text}
    if final.command is not None:
        command = final.command
        fields |= {"intent": command.intent, "slots": command.slots, "score": command.score}
    if final.raw_text is not None:
        fields["raw_text"] = final.raw_text
    if final.tags:
        fields["tags"] = final.tags
    if final.speaker is not None:
        fields["speaker"] = {"name": final.speaker.name, "score": round(final.speaker.score, 4)}
    return fields


def joined_fields(finals: Sequence[Final]) -> dict[str, Any]:
    """Of several segments that are answered as one: what was meant and heard last, and all of the text as heard."""
    return final_fields(finals[-1]) | as_heard(finals) if finals else {}


def as_heard(finals: Sequence[Final]) -> dict[str, Any]:
    """``raw_text``, all of the text, where texts may be written otherwise than they were heard."""
    if all(final.raw_text is None for final in finals):
        return {}
    return {"raw_text": joined_text(final.text if final.raw_text is None else final.raw_text for final in finals)}
