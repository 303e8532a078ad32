"""The page at ``/``: files of the package, and the headers that keep a page to itself."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

FOLDER = "/page/"
"""Path of the page's files; open to everybody, as they are in the package."""

DIRECTORY = Path(__file__).parent.parent / "page"

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Of the files of the page; nothing else in its folder is served."""

POLICY = {
    # No script, style or connection but our own: what a recogniser hears must not find a way out, and a text that looks
    # like markup must not run.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",  # asked for again each time, and answered with 304: no old script meets a new daemon
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file, in memory."""

    content: bytes
    media_type: str
    tag: str
    """For ``ETag``."""


@cache
def page_files() -> dict[str, PageFile]:
    """Every file of the page by its name; read once, when somebody opens the page."""
    return {path.name: _read(path) for path in sorted(DIRECTORY.iterdir()) if path.suffix in MEDIA_TYPES}


async def index(request: Request) -> Response:
    """``GET /``."""
    return _answer(request, "index.html")


async def file(request: Request) -> Response:
    """``GET /page/NAME``."""
    return _answer(request, request.path_params["name"])


def _answer(request: Request, name: str) -> Response:
    found = page_files().get(name)
    if found is None:
        raise HTTPException(404, "the page has no such file")
    headers = {**POLICY, "ETag": found.tag}
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.media_type)


def _read(path: Path) -> PageFile:
    content = path.read_bytes()
    return PageFile(content, MEDIA_TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:16]}"')
