"""One file over HTTP: resumed where it stopped, bounded in size, checked by digest."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from edge_asr.errors import FetchFailed, ModelDamaged

Progress = Callable[[str, int, int], None]
"""Called with what is being fetched, bytes so far, and bytes in all (0 when not known)."""

BLOCK_BYTES = 1 << 18
TIMEOUT_S = 60.0
ATTEMPTS = 3
"""A connection that breaks is taken up again where it stopped so often before the command gives up."""


def download(url: str, path: Path, progress: Progress, *, sha256: str = "", max_bytes: int = 8 << 30) -> None:
    """Fetch ``url`` to ``path``.

    What arrived before an interruption stays in ``path`` + ``.part`` and is continued by the next call.

    Raises:
        FetchFailed: The server cannot be reached, refuses, or breaks off too often.
        ModelDamaged: The contents are not those of ``sha256``; nothing is kept.
    """
    partial = path.with_name(path.name + ".part")
    label = _label(url)
    for attempt in range(ATTEMPTS):
        try:
            if _continue(url, partial, progress, label, max_bytes):
                break
        except urllib.error.HTTPError as error:
            raise FetchFailed(label, f"the server says {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS - 1:
                raise FetchFailed(label, _reason(error)) from error
    else:
        raise FetchFailed(label, "the connection broke off again and again")
    if sha256:
        _check(partial, sha256, label)
    partial.replace(path)


def _continue(url: str, partial: Path, progress: Progress, label: str, max_bytes: int) -> bool:
    """Fetch what is missing; ``False`` when the connection ended too early."""
    have = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "edge-asr"})  # noqa: S310  the schemes are checked
    if urllib.parse.urlsplit(url).scheme not in ("http", "https", "file"):
        raise FetchFailed(label, "only http, https and file addresses are fetched", "correct the manifest")
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_S)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            partial.unlink()  # longer than the file on the server: not the same file
            return False
        raise
    with response:
        if response.status != http.client.PARTIAL_CONTENT:
            have = 0
        total = _total(response, have)
        if total > max_bytes:
            raise FetchFailed(label, f"{total >> 20} MiB are more than the limit of {max_bytes >> 20} MiB")
        with partial.open("ab" if have else "wb") as file:
            return _copy(response, file, progress, label, have, total, max_bytes)


def _copy(
    response: Any,  # noqa: ANN401  urllib's responses have no common type
    file: IO[bytes],
    progress: Progress,
    label: str,
    have: int,
    total: int,
    max_bytes: int,
) -> bool:
    while block := response.read(BLOCK_BYTES):
        have += len(block)
        if have > max_bytes:
            raise FetchFailed(label, f"more than the limit of {max_bytes >> 20} MiB arrived")
        file.write(block)
        progress(label, have, total)
    return not total or have == total


def _total(response: Any, have: int) -> int:  # noqa: ANN401
    length = response.headers.get("Content-Length")
    return have + int(length) if length and length.isdigit() else 0


def _check(partial: Path, sha256: str, label: str) -> None:
    with partial.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        partial.unlink()
        raise ModelDamaged(label, f"what was fetched has sha256 {found} instead of {sha256}; pull again")


def _label(url: str) -> str:
    return urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2]) or url


def _reason(error: BaseException) -> str:
    if isinstance(error, urllib.error.URLError):
        return f"the server cannot be reached ({error.reason})"
    return f"the connection failed ({error})"
