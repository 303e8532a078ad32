"""The page's files and their headers; what it does is tested in a browser."""

from __future__ import annotations

import re

import httpx
import pytest

from edge_asr.servers.page import DIRECTORY, page_files
from tests.support.doors import http_door
from tests.support.recognizer import ScriptedRecognizer

REFERENCE = re.compile(r"""(?:src|href)="(/page/[^"]+)"|from "\./([^"]+)"|addModule\("(/page/[^"]+)"\)""")
ELSEWHERE = re.compile(r"https?://(?!www\.w3\.org/|localhost)[\w.-]+")


async def get(path: str, **headers: str) -> httpx.Response:
    async with http_door(ScriptedRecognizer()) as base, httpx.AsyncClient(base_url=base) as client:
        return await client.get(path, headers=headers)


async def test_the_page_lets_nothing_in_but_its_own_files() -> None:
    response = await get("/")
    policy = response.headers["content-security-policy"]
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_file_that_a_browser_has_already_is_not_sent_again() -> None:
    tag = (await get("/page/main.js")).headers["etag"]
    again = await get("/page/main.js", **{"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/page/nothing.js", "/page/..%2fdaemon.py", "/page/%2e%2e/daemon.py", "/page/"])
async def test_nothing_else_is_served(path: str) -> None:
    assert (await get(path)).status_code == 404


def test_everything_the_page_refers_to_is_there() -> None:
    texts = [file.content.decode() for name, file in page_files().items() if not name.startswith("uplot")]
    wanted = {next(filter(None, groups)).rpartition("/")[2] for text in texts for groups in REFERENCE.findall(text)}
    assert {"main.js", "style.css", "microphone-worklet.js", "session.js", "uplot.min.js"} <= wanted
    assert wanted <= set(page_files())


def test_no_file_names_another_host() -> None:
    own = {name: file.content.decode() for name, file in page_files().items() if not name.startswith("uplot")}
    assert {name: ELSEWHERE.findall(text) for name, text in own.items() if ELSEWHERE.search(text)} == {}


def test_what_others_wrote_comes_with_its_licence() -> None:
    assert "MIT License" in (DIRECTORY / "uplot.LICENSE.txt").read_text(encoding="utf-8")
