"""A web server on loopback that can break off, refuse, redirect and change its mind."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """Files of a local web server, and how it misbehaves."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    break_after: list[int] = field(default_factory=list)
    """Bytes of the body after which the next answers break off, one entry each."""
    ranges: list[str] = field(default_factory=list)
    """``Range`` headers that were asked for; an empty string where there was none."""
    ignores_ranges: bool = False
    refuse_with: list[int] = field(default_factory=list)
    """Statuses of the next answers, one entry each."""
    etag: str = ""
    elsewhere: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    """Paths that are redirected: where to, and further headers of that answer."""


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        if self.site.refuse_with:
            self.send_error(self.site.refuse_with.pop(0))
            return
        if self.path in self.site.elsewhere:
            self._redirect(*self.site.elsewhere[self.path])
            return
        body = self.site.files.get(self.path)
        asked = self.headers.get("Range", "")
        self.site.ranges.append(asked)
        if body is None:
            self.send_error(404)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and not self.site.ignores_ranges else 0
        if start >= len(body) > 0 and start:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        if self.site.etag:
            self.send_header("ETag", self.site.etag)
        self.end_headers()
        rest = body[start:]
        self.wfile.write(rest[: self.site.break_after.pop(0)] if self.site.break_after else rest)

    def _redirect(self, target: str, headers: dict[str, str]) -> None:
        self.send_response(302)
        for name, value in {"Location": target, "Content-Length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has had enough closes the connection; that is no news."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextlib.contextmanager
def serving() -> Iterator[Site]:
    site = Site()
    handler = type("Handler", (_Handler,), {"site": site})
    with _Server(("127.0.0.1", 0), handler) as server:
        site.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
