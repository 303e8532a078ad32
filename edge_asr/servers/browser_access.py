"""How a page in a browser shows its token: as a header where it can, as a subprotocol where it cannot.

A browser lets no page set headers of a websocket's handshake, but it may offer subprotocols, which are a header, too.
So a page offers ``edge-asr`` and ``bearer.TOKEN``, with the token in base64url, since a subprotocol must not hold every
character that a token may. We answer with ``edge-asr`` and never repeat the token. Unlike a token in the address, it
gets into no history, no referrer and no access log.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

SUBPROTOCOL = "edge-asr"
"""What a page offers beside its token."""

_BEARER = "bearer."


def authorization(headers: Headers) -> str:
    """The ``Authorization`` header, or what a page offers in its place; empty when there is neither."""
    given = headers.get("authorization", "")
    if given:
        return given
    for offered in headers.get("sec-websocket-protocol", "").split(","):
        if _is_token(offered.strip()):
            return f"Bearer {_decoded(offered.strip()[len(_BEARER) :])}"
    return ""


def answered_subprotocol(scope: Mapping[str, Any]) -> str | None:
    """The subprotocol to accept a handshake with, never a token: ours, or else the first that is offered.

    A browser hangs up when none of its offers is taken; those of other protocols' clients all mean the same to us.
    """
    offered = [offer for offer in scope.get("subprotocols", ()) if not _is_token(offer)]
    return SUBPROTOCOL if SUBPROTOCOL in offered else next(iter(offered), None)


def _is_token(offer: str) -> bool:
    # In whatever case: a token that is not taken for one would be repeated in our answer.
    return offer.lower().startswith(_BEARER)


def _decoded(text: str) -> str:
    padding = "=" * (-len(text) % 4)
    try:
        return base64.b64decode(text + padding, altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ""  # no token, and refused as a wrong one is
