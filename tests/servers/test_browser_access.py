"""How a page shows its token where a browser lets it set no header."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from starlette.datastructures import Headers
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from edge_asr.servers.browser_access import answered_subprotocol, authorization
from tests.support.doors import http_door
from tests.support.recognizer import ScriptedRecognizer

TOKEN = "token/with+every=kind~of!character"


def encoded(token: str) -> str:
    return base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


def offering(*subprotocols: str) -> Headers:
    return Headers({"sec-websocket-protocol": ", ".join(subprotocols)})


def test_a_token_is_read_from_the_subprotocols() -> None:
    assert authorization(offering("edge-asr", f"bearer.{encoded(TOKEN)}")) == f"Bearer {TOKEN}"


def test_the_header_counts_more() -> None:
    both = Headers({"authorization": "Bearer header", "sec-websocket-protocol": f"bearer.{encoded(TOKEN)}"})
    assert authorization(both) == "Bearer header"


@pytest.mark.parametrize("offered", ["edge-asr", "bearer.***", "bearer.w6k", ""])
def test_what_is_no_token_is_none(offered: str) -> None:
    assert authorization(offering(offered)).removeprefix("Bearer ") == ""


def test_our_own_subprotocol_is_taken_and_the_token_is_never_repeated() -> None:
    assert answered_subprotocol({"subprotocols": ["bearer.abc", "edge-asr"]}) == "edge-asr"
    assert answered_subprotocol({"subprotocols": ["bearer.abc", "realtime", "other"]}) == "realtime"
    assert answered_subprotocol({"subprotocols": ["bearer.abc"]}) is None
    assert answered_subprotocol({}) is None


async def test_a_page_with_the_token_gets_through_and_one_without_does_not(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text(TOKEN)
    token_file.chmod(0o600)
    async with http_door(ScriptedRecognizer(), token_file=str(token_file)) as base:
        url = base.replace("http", "ws") + "/v1/stream"
        ours = Subprotocol("edge-asr")
        async with connect(url, subprotocols=[ours, Subprotocol(f"bearer.{encoded(TOKEN)}")]) as socket:
            assert socket.subprotocol == ours
        for wrong in ([ours], [ours, Subprotocol(f"bearer.{encoded(TOKEN[:-1])}")]):
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, subprotocols=wrong)
            assert refused.value.response.status_code == 401


def test_a_token_is_not_repeated_whatever_the_case_of_its_name() -> None:
    assert answered_subprotocol({"subprotocols": ["BEARER.abc"]}) is None
    assert authorization(offering(f"Bearer.{encoded(TOKEN)}")) == f"Bearer {TOKEN}"
