"""``/admin/...``: who may, what is answered, and what a refusal looks like."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from edge_asr.errors import (
    AddressInUse,
    ConfigurationError,
    EdgeAsrError,
    GateFailed,
    ModelDamaged,
    ModelNotFound,
    NotEnoughMemory,
)
from edge_asr.servers.admin_door import AdminDoor
from tests.support.doors import LIMITS, http_door
from tests.support.recognizer import ScriptedRecognizer

TOKEN = "0123456789abcdef0123"


class Done(msgspec.Struct, frozen=True):
    what: str


class ScriptedAdministrator:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.error: EdgeAsrError | None = None

    def describe(self) -> dict[str, Any]:
        return {"store": "/var/lib/edge-asr"}

    async def activate(self, name: str, max_wer: float | None = None) -> Done:
        return self._do("activate", name, max_wer)

    async def rollback(self) -> Done:
        return self._do("rollback")

    async def reload(self) -> Done:
        return self._do("reload")

    def trace(self, session: str, max_s: float) -> Done:
        return self._do("trace", session, max_s)

    def drain(self) -> dict[str, Any]:
        self._do("drain")
        return self.describe()

    def end_drain(self) -> dict[str, Any]:
        self._do("end drain")
        return self.describe()

    def _do(self, *what: Any) -> Done:
        self.asked.append(what)
        if self.error is not None:
            raise self.error
        return Done(what[0])


@pytest.fixture
def administrator() -> ScriptedAdministrator:
    return ScriptedAdministrator()


@contextlib.asynccontextmanager
async def through(path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a unix socket."""
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@pytest.fixture
async def client(administrator: ScriptedAdministrator, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Of the admin socket."""
    door = AdminDoor(tmp_path / "admin.sock", LIMITS)
    await door.open(administrator)
    async with through(tmp_path / "admin.sock") as opened:
        yield opened
    await door.close()


@pytest.mark.parametrize(
    ("path", "body", "asked"),
    [
        ("activate", '{"model": "red"}', ("activate", "red", None)),
        ("activate", '{"model": "red", "max_wer": 0.5}', ("activate", "red", 0.5)),
        ("rollback", "", ("rollback",)),
        ("reload", "{}", ("reload",)),
        ("trace", '{"session": "next"}', ("trace", "next", 300.0)),
        ("drain", "", ("drain",)),
        ("drain", '{"drain": false}', ("end drain",)),
    ],
)
async def test_what_is_asked_is_done_and_answered(
    client: httpx.AsyncClient, administrator: ScriptedAdministrator, path: str, body: str, asked: tuple[Any, ...]
) -> None:
    response = await client.post(f"/admin/{path}", content=body)
    assert (response.status_code, administrator.asked) == (200, [asked])
    assert response.json() == ({"store": "/var/lib/edge-asr"} if "drain" in path else {"what": path})


async def test_the_daemon_says_which_one_it_is(client: httpx.AsyncClient) -> None:
    assert (await client.get("/admin")).json() == {"store": "/var/lib/edge-asr"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "missing required field `model`"),
        ('{"model": 1}', "Expected `str`"),
        ('{"model": "red", "path": "/etc"}', "unknown field `path`"),
        ('{"model": "red", "max_wer": 2}', "max_wer 2.0 is outside 0 to 1"),
        ("[" * 3000, "Expected `object`, got `array`"),
        ('{"model": ' + "[" * 3000, "Expected `str`"),
        ("x" * 5000, "a body of more than 4096 bytes"),
    ],
)
async def test_a_body_that_is_wrong_does_nothing(
    client: httpx.AsyncClient, administrator: ScriptedAdministrator, body: str, reason: str
) -> None:
    response = await client.post("/admin/activate", content=body)
    assert (response.status_code, administrator.asked) == (400, [])
    assert response.json()["error"]["code"] == "configuration_invalid"
    assert reason in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelNotFound("red", "installed are: blue"), 404),
        (ModelDamaged("red", "tokens.txt is missing"), 422),
        (GateFailed("word error rate 80 %"), 422),
        (NotEnoughMemory(100, 50, "model 'red'"), 503),
        (ConfigurationError("engine.threads = 99 is outside 1 to 64"), 400),
    ],
)
async def test_a_refusal_has_the_errors_code_and_sentence(
    client: httpx.AsyncClient, administrator: ScriptedAdministrator, error: EdgeAsrError, status: int
) -> None:
    administrator.error = error
    response = await client.post("/admin/activate", content='{"model": "red"}')
    assert response.status_code == status
    assert response.json() == {"error": {"code": error.code, "message": str(error)}}


async def test_the_socket_is_for_owner_and_group_and_goes_with_the_daemon(
    administrator: ScriptedAdministrator, tmp_path: Path
) -> None:
    path = tmp_path / "admin.sock"
    door = AdminDoor(path, LIMITS)
    await door.open(administrator)
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    with pytest.raises(AddressInUse, match=r"admin\.sock"):
        AdminDoor(path, LIMITS)
    await door.close()
    assert not path.exists()


async def test_over_http_nobody_may_where_no_token_is_needed(administrator: ScriptedAdministrator) -> None:
    async with (
        http_door(ScriptedRecognizer(), administrator=administrator) as base,
        httpx.AsyncClient(base_url=base) as client,
    ):
        response = await client.post("/admin/rollback")
    assert (response.status_code, administrator.asked) == (403, [])
    assert "needs a token or the admin socket" in response.json()["error"]["message"]


async def test_over_http_the_token_opens(administrator: ScriptedAdministrator, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    async with (
        http_door(ScriptedRecognizer(), administrator=administrator, token_file=str(tmp_path / "token")) as base,
        httpx.AsyncClient(base_url=base) as client,
    ):
        refused = await client.post("/admin/rollback")
        done = await client.post("/admin/rollback", headers={"Authorization": f"Bearer {TOKEN}"})
    assert (refused.status_code, done.status_code, administrator.asked) == (401, 200, [("rollback",)])
