"""What a client of a session reads."""

from __future__ import annotations

from edge_asr.events import Final, SessionEnded


async def said(session):
    """Texts of the finals and codes of the notices, of a session that ends well."""
    events = [event async for event in session.events()]
    assert isinstance(events[-1], SessionEnded), events[-1]
    return [event.text if isinstance(event, Final) else event.code for event in events[:-1]]
