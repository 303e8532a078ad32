"""One file over HTTP: resumed where it stopped, bounded in size, checked by digest."""

from __future__ import annotations

import hashlib
import http.client
import logging
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from edge_asr.errors import FetchFailed, ModelDamaged
from edge_asr.store.disk import require_space, writing_to

Progress = Callable[[str, int, int], None]
"""Called with what is being fetched, bytes so far, and bytes in all (0 when not known)."""

Pause = Callable[[float], None]
"""Waits so many seconds."""

BLOCK_BYTES = 1 << 18
TIMEOUT_S = 60.0
PAUSES_S = (0.0, 1.0, 3.0)
"""A transfer that breaks is taken up again where it stopped, after these pauses, before the command gives up."""

_SCHEMES = ("http", "https", "file")
_MOMENTARY = (429, 500, 502, 503, 504)
"""Statuses of a server that may answer in a moment."""

_log = logging.getLogger(__name__)


def download(
    url: str,
    path: Path,
    progress: Progress,
    *,
    sha256: str = "",
    max_bytes: int = 8 << 30,
    pause: Pause = time.sleep,
) -> None:
    """Fetch ``url`` to ``path``.

    What arrived before an interruption stays in ``path`` + ``.part`` and is continued by the next call, unless the
    server has another file by then. Without ``sha256`` the digest that the server itself promises is checked, where it
    does (Hugging Face).

    Raises:
        FetchFailed: The server cannot be reached, refuses, or breaks off too often.
        ModelDamaged: The contents are not those of the digest; nothing is kept.
        DiskFull: It does not fit.
    """
    label = _label(url)
    if urllib.parse.urlsplit(url).scheme not in _SCHEMES:
        raise FetchFailed(label, "only http, https and file addresses are fetched", "correct the manifest")
    transfer = _Transfer(url, path.with_name(path.name + ".part"), progress, max_bytes)
    transfer.run(pause)
    expected = sha256 or transfer.promised_sha256
    found = transfer.close(expected)
    if found != expected:
        raise ModelDamaged(label, f"what was fetched has sha256 {found} instead of {expected}; pull again")
    transfer.partial.replace(path)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirections, and remembers what the first server says of the file it sends us elsewhere for."""

    promised_sha256 = ""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        etag = headers.get("X-Linked-ETag", "").strip('"').lower()
        if len(etag) == hashlib.sha256().digest_size * 2:  # Small files have git's digest of another length there.
            self.promised_sha256 = etag
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Transfer:
    """A file on its way, with the attempts it takes."""

    def __init__(self, url: str, partial: Path, progress: Progress, max_bytes: int) -> None:
        self.partial = partial
        self._url = url
        self._label = _label(url)
        self._progress = progress
        self._max_bytes = max_bytes
        self._redirects = _Redirects()
        self._etag_file = partial.with_name(partial.name + ".etag")
        self._has_begun = False

    @property
    def promised_sha256(self) -> str:
        """What the server says the digest is; empty when it says nothing."""
        return self._redirects.promised_sha256

    def run(self, pause: Pause) -> None:
        """Fetch until the file is whole."""
        reason = ""
        for pause_s in PAUSES_S:
            if reason:
                _log.info("%s: %s; trying again", self._label, reason)
                pause(pause_s)
            try:
                if self._continue():
                    return
                reason = "the connection broke off again and again"
            except urllib.error.HTTPError as error:
                reason = f"the server says {error.code} {error.reason}"
                if error.code not in _MOMENTARY:
                    raise FetchFailed(self._label, reason) from error
            except (OSError, http.client.HTTPException) as error:
                reason = _reason(error)
                if not self._has_begun:
                    raise FetchFailed(self._label, reason) from error
        raise FetchFailed(self._label, reason)

    def close(self, expected_sha256: str) -> str:
        """Digest of what arrived if one is expected, else empty; what is wrong is thrown away."""
        self._etag_file.unlink(missing_ok=True)
        if not expected_sha256:
            return ""
        with self.partial.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected_sha256:
            self.partial.unlink()
        return found

    def _continue(self) -> bool:
        """Fetch what is missing; ``False`` when it must be tried again."""
        have = self.partial.stat().st_size if self.partial.exists() else 0
        try:
            response = self._open(have)
        except urllib.error.HTTPError as error:
            if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and have:
                return self._start_over()  # Longer than the file on the server: not the same file.
            raise
        with response:
            self._has_begun = True
            if have and response.status == http.client.PARTIAL_CONTENT and not self._is_the_rest(response, have):
                return self._start_over()
            if response.status != http.client.PARTIAL_CONTENT:
                have = 0
            total = _total(response, have)
            if total > self._max_bytes:
                raise FetchFailed(self._label, f"{total >> 20} MiB are more than the limit of {_mib(self._max_bytes)}")
            require_space(self.partial.parent, total - have, is_store=True)
            self._etag_file.write_text(response.headers.get("ETag", ""))
            return self._copy(response, have, total)

    def _open(self, have: int) -> Any:  # noqa: ANN401  urllib's responses have no common type
        request = urllib.request.Request(self._url, headers={"User-Agent": "edge-asr"})  # noqa: S310  checked above
        if have:
            request.add_header("Range", f"bytes={have}-")
        return urllib.request.build_opener(self._redirects).open(request, timeout=TIMEOUT_S)

    def _is_the_rest(self, response: Any, have: int) -> bool:  # noqa: ANN401
        known = self._etag_file.read_text() if self._etag_file.exists() else ""
        etag = response.headers.get("ETag", "")
        begins = response.headers.get("Content-Range", f"bytes {have}-").startswith(f"bytes {have}-")
        return begins and (not known or not etag or etag == known)

    def _start_over(self) -> bool:
        self.partial.unlink()
        return False

    def _copy(self, response: Any, have: int, total: int) -> bool:  # noqa: ANN401
        with writing_to(self.partial.parent, is_store=True), self.partial.open("ab" if have else "wb") as file:
            while block := response.read(BLOCK_BYTES):
                have += len(block)
                if have > self._max_bytes:
                    raise FetchFailed(self._label, f"more than the limit of {_mib(self._max_bytes)} arrived")
                file.write(block)
                self._progress(self._label, have, total)
        return not total or have == total


def fetch_text(url: str, max_bytes: int = 1 << 20) -> str:
    """A short text.

    Raises:
        FetchFailed: It cannot be had, is too long, or is no text.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "edge-asr"})  # noqa: S310  from a shipped manifest
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            content = response.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise FetchFailed(_label(url), f"it is longer than {max_bytes} bytes")
        return str(content, "utf-8")
    except urllib.error.HTTPError as error:
        raise FetchFailed(_label(url), f"the server says {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, UnicodeDecodeError) as error:
        raise FetchFailed(_label(url), _reason(error)) from error


def _total(response: Any, have: int) -> int:  # noqa: ANN401
    length = response.headers.get("Content-Length")
    return have + int(length) if length and length.isdigit() else 0


def _label(url: str) -> str:
    return urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2]) or url


def _mib(size_bytes: int) -> str:
    return f"{size_bytes >> 20} MiB"


def _reason(error: BaseException) -> str:
    if isinstance(error, urllib.error.URLError):
        return f"the server cannot be reached ({error.reason})"
    return f"the connection failed ({error})"
