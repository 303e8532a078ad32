"""Stores in temporary places, and a web server that can break off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from edge_asr.manifest import ModelFile, ModelManifest, ModelSource
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import ModelStore


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


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    handler = type("Handler", (_Handler,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        site.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield site
        server.shutdown()
        thread.join()


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    directory = tmp_path / "catalogue"
    directory.mkdir()
    return directory


@pytest.fixture
def store(tmp_path: Path, catalogue: Path) -> ModelStore:
    return ModelStore(StoreLocations((tmp_path / "root",)), catalogue)


def manifest(name: str = "tiny", **changes: object) -> ModelManifest:
    facts: dict[str, object] = {
        "name": name,
        "version": "1",
        "family": "zipformer2-ctc",
        "languages": ("en",),
        "sample_rate_hz": 16_000,
        "chunk_ms": 320,
        "precision": "int8",
        "files": {"tokens": ModelFile(path="tokens.txt"), "model": ModelFile(path="model.onnx")},
        "licence": "Apache-2.0",
        "source": ModelSource(kind="local"),
    }
    return ModelManifest(**(facts | changes))  # type: ignore[arg-type]


def fill_with(contents: dict[str, bytes], described: ModelManifest):
    def fill(directory: Path) -> ModelManifest:
        for name, data in contents.items():
            (directory / name).write_bytes(data)
        return described

    return fill


WHOLE = {"tokens.txt": b"<blk> 0\n", "model.onnx": b"graph"}
